"""A kubeconfig's text, as k3s writes it."""

from base64 import b64encode

_TEXT = """\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: {authority}
    server: {server}
  name: default
contexts:
- context:
    cluster: default
    user: default
  name: default
current-context: default
kind: Config
preferences: {{}}
users:
- name: default
  user:
{user}"""


def with_certificate(server: str, authority: str, certificate: str, key: str) -> str:
    """Log in with a client certificate."""
    user = (
        f"    client-certificate-data: {_coded(certificate)}\n"
        f"    client-key-data: {_coded(key)}\n"
    )
    return _TEXT.format(server=server, authority=_coded(authority), user=user)


def with_token(server: str, authority: str, token: str) -> str:
    """Log in with a bearer token."""
    user = f"    token: {token}\n"
    return _TEXT.format(server=server, authority=_coded(authority), user=user)


def _coded(text: str) -> str:
    return b64encode(text.encode()).decode()
