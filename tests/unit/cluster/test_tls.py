"""A client key reaches OpenSSL without staying anywhere."""

from pathlib import Path
import stat
import tempfile

import pytest

from custom_components.gpu_handoff.cluster import tls
from custom_components.gpu_handoff.cluster.kubeconfig import Kubeconfig, read

from .https_api import HttpsApi
from .pki import base64


def with_client_certificate() -> Kubeconfig:
    server = HttpsApi()
    user = {
        "client-certificate-data": base64(server.client.cert_pem),
        "client-key-data": base64(server.client.key_pem),
    }
    return read(server.kubeconfig(user))


def test_without_files_in_memory_a_private_file_is_used_and_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    modes = []
    load = tls._load_chain

    def watch(context: object, pem: str) -> None:
        load(context, pem)  # type: ignore[arg-type]

    class Recorder(tls.ssl.SSLContext):
        def load_cert_chain(self, certfile: str, *args: object, **more: object) -> None:
            modes.append(stat.S_IMODE(Path(certfile).stat().st_mode))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(tls, "_memory_file", lambda: None)
    watch(Recorder(tls.ssl.PROTOCOL_TLS_CLIENT), "pem")
    tls.build_context(with_client_certificate())
    assert modes == [0o600]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [AttributeError, OSError])
def test_a_system_without_files_in_memory_is_no_trouble(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def refuse(_name: str) -> int:
        raise error

    monkeypatch.setattr(tls.os, "memfd_create", refuse)
    tls.build_context(with_client_certificate())


def test_a_system_without_proc_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_dir", lambda _self: False)
    tls.build_context(with_client_certificate())
