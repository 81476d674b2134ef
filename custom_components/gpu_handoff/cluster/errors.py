"""What can go wrong between us and an API server, as sentences for a person."""

import os
import ssl

import aiohttp

from ..handoff.reason import Unreachable

NAME_WRONG = frozenset({62, 64})
OUT_OF_DATE = frozenset({9, 10})
NOT_BY_THE_STRICT_RULES = frozenset({24, *range(79, 100)})
"""OpenSSL's verify codes of VERIFY_X509_STRICT, which Python sets since 3.13."""


class ApiError(Unreachable):
    """The server answered, but not with what was asked for."""

    def __init__(self, key: str, *, status: int, **placeholders: object) -> None:
        """Remember the HTTP status beside the sentence."""
        super().__init__(key, **placeholders)
        self.status = status


def of_transport(
    error: BaseException, *, address: str, name: str, timeout_s: float
) -> Unreachable:
    """Say why a request got no answer at all."""
    if (certificate := _certificate_error(error)) is not None:
        return _of_certificate(certificate, address=address, name=name)
    if isinstance(error, TimeoutError):
        return Unreachable("cluster_timeout", address=address, seconds=f"{timeout_s:g}")
    if isinstance(error, ValueError):
        return ApiError("not_kubernetes", status=200, address=address)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return Unreachable("cluster_not_tls", address=address)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Unreachable("cluster_name_unknown", address=address)
    return Unreachable("cluster_unreachable", address=address, cause=_cause(error))


def of_reply(
    status: int, message: str, *, verb: str, resource: str, with_token: bool
) -> ApiError:
    """Say why the server did not do what was asked."""
    stranger = status == 403 and '"system:anonymous"' in message
    if status == 401 or stranger:
        key = "token_refused" if with_token else "client_certificate_refused"
        return ApiError(key, status=status)
    key = _KEY_OF_STATUS.get(status, "cluster_refused")
    words = {"verb": verb, "resource": resource}
    if key == "cluster_refused":
        words |= {"code": str(status), "cause": message[:200]}
    return ApiError(key, status=status, **words)


_KEY_OF_STATUS = {
    403: "cluster_forbidden",
    404: "cluster_not_found",
    410: "cluster_history_gone",
    429: "cluster_busy",
}


def _certificate_error(error: BaseException) -> ssl.SSLCertVerificationError | None:
    for inner in (getattr(error, "certificate_error", None), error.__cause__, error):
        if isinstance(inner, ssl.SSLCertVerificationError):
            return inner
    return None


def _of_certificate(
    error: ssl.SSLCertVerificationError, *, address: str, name: str
) -> Unreachable:
    code = error.verify_code
    if code in NAME_WRONG:
        return Unreachable("certificate_name_wrong", address=address, name=name)
    if code in OUT_OF_DATE:
        return Unreachable(
            "certificate_out_of_date", address=address, cause=error.verify_message
        )
    if code in NOT_BY_THE_STRICT_RULES:
        return Unreachable("kubeconfig_ca_unusable", cause=error.verify_message)
    return Unreachable("certificate_not_trusted", address=address)


def _cause(error: BaseException) -> str:
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number)
    return "the connection was closed"
