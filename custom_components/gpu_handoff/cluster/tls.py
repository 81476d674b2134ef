"""The TLS context for one API server. Blocking: to be called in an executor."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import os
from pathlib import Path
import ssl
import tempfile

from ..handoff.reason import Unreachable
from .kubeconfig import Kubeconfig


def build_context(kubeconfig: Kubeconfig) -> ssl.SSLContext:
    """Make a context that believes the kubeconfig's CA only, and shows our certificate."""
    try:
        context = ssl.create_default_context(cadata=kubeconfig.ca_pem)
    except (ssl.SSLError, ValueError) as error:
        raise Unreachable("kubeconfig_ca_unusable", cause=_words(error)) from error
    if kubeconfig.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if kubeconfig.client_cert_pem and kubeconfig.client_key_pem:
        pem = f"{kubeconfig.client_cert_pem}\n{kubeconfig.client_key_pem}\n"
        _load_chain(context, pem)
    return context


def _load_chain(context: ssl.SSLContext, pem: str) -> None:
    """Give OpenSSL its file. An empty password keeps it from asking a terminal for one."""
    try:
        with _short_lived_file(pem.encode()) as path:
            context.load_cert_chain(path, password="")
    except (ssl.SSLError, ValueError) as error:
        cause = _words(error)
        raise Unreachable("kubeconfig_client_pair_unusable", cause=cause) from error


@contextmanager
def _short_lived_file(content: bytes) -> Iterator[str]:
    """Hold content where OpenSSL can open it: in memory, else in a file of ours alone."""
    memory = _memory_file()
    if memory is None:
        with _private_file(content) as path:
            yield path
        return
    try:
        os.write(memory, content)
        yield f"/proc/self/fd/{memory}"
    finally:
        os.close(memory)


def _memory_file() -> int | None:
    if not Path("/proc/self/fd").is_dir():
        return None
    with suppress(AttributeError, OSError):
        return os.memfd_create("client")
    return None


@contextmanager
def _private_file(content: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        yield file.name


def _words(error: Exception) -> str:
    return getattr(error, "reason", None) or str(error.args[-1])
