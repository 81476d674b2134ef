"""A kubeconfig that is pasted is checked by us, and every fault is a sentence."""

from typing import Any

import pytest
import yaml

from custom_components.gpu_handoff.cluster.kubeconfig import Kubeconfig, read
from custom_components.gpu_handoff.handoff.reason import HandoffError, Reason

FOO, BAR = "Zm9v", "YmFy"
SECRET = "not-a-secret"


def kubeconfig(
    user: Any = None, cluster: dict[str, Any] | None = None, **changes: Any
) -> str:
    """One context named home."""
    server = {"server": "https://192.0.2.9:6443"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "home",
        "clusters": [{"name": "home", "cluster": {**server, **(cluster or {})}}],
        "contexts": [{"name": "home", "context": {"cluster": "home", "user": "me"}}],
        "users": [{"name": "me", "user": {"token": SECRET} if user is None else user}],
    }
    return yaml.safe_dump({**config, **changes})


def refusal(text: str, context: str | None = None) -> Reason:
    """Read it and return what was said."""
    with pytest.raises(HandoffError) as caught:
        read(text, context)
    assert SECRET not in str(caught.value)
    return caught.value.reason


def test_a_token_is_read() -> None:
    config = read(kubeconfig())
    assert (config.server_host, config.server_port) == ("192.0.2.9", 6443)
    assert config.token == SECRET
    assert config.server_name == "192.0.2.9"
    assert (config.ca_pem, config.insecure, config.is_loopback) == (None, False, False)
    assert config.loopback_warning is None


def test_its_repr_shows_no_secret() -> None:
    user = {"client-certificate-data": FOO, "client-key-data": BAR, "token": SECRET}
    config = read(kubeconfig(user, {"certificate-authority-data": FOO}))
    for secret in (SECRET, "bar", "foo"):
        assert secret not in repr(config)
        assert secret not in repr(config.login)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\t{",
        "just words",
        "- a list",
        "a: [",
        "when: 2024-99-99",
        "[" * 5000,
        '"\x00"',
        f"token: {SECRET}\n  bad: [indent",
    ],
)
def test_what_is_not_yaml_is_said_to_be_none(text: str) -> None:
    assert refusal(text).key == "kubeconfig_not_yaml"


@pytest.mark.parametrize("text", ["a: b", "clusters: []", "clusters: {}\nusers: []"])
def test_yaml_of_something_else_is_no_kubeconfig(text: str) -> None:
    assert refusal(text).key == "kubeconfig_not_kubeconfig"


@pytest.mark.parametrize(
    ("user", "key"),
    [
        ({"exec": {"command": "aws", "args": ["eks"]}}, "kubeconfig_exec_plugin"),
        ({"auth-provider": {"name": "gcp"}}, "kubeconfig_auth_provider"),
        ({"username": "admin", "password": SECRET}, "kubeconfig_basic_auth"),
        ({"token": SECRET, "as": "root"}, "kubeconfig_impersonation"),
        ({"token": "two words"}, "kubeconfig_token_malformed"),
        ({"token": "ключ"}, "kubeconfig_token_malformed"),
        ({"token": ""}, "kubeconfig_no_credentials"),
        ({"client-key-data": BAR}, "kubeconfig_client_certificate_missing"),
        ({"client-certificate-data": "%%"}, "kubeconfig_bad_data"),
        ({"client-certificate-data": "/w=="}, "kubeconfig_bad_data"),
        ({"tokenFile": "/run/token"}, "kubeconfig_missing_file"),
    ],
)
def test_a_login_that_cannot_be_used_is_named(user: dict[str, Any], key: str) -> None:
    assert refusal(kubeconfig(user)).key == key


@pytest.mark.parametrize("value", ["false", "true", "no", 0])
def test_a_quoted_false_never_turns_verification_off(value: object) -> None:
    reason = refusal(kubeconfig(cluster={"insecure-skip-tls-verify": value}))
    assert reason == Reason.of("kubeconfig_quoted_false", value=value)


def test_verification_is_off_only_where_the_file_really_says_so() -> None:
    assert read(kubeconfig(cluster={"insecure-skip-tls-verify": True})).insecure


def test_insecure_beside_a_ca_is_refused() -> None:
    both = {"insecure-skip-tls-verify": True, "certificate-authority-data": FOO}
    assert refusal(kubeconfig(cluster=both)).key == "kubeconfig_insecure_and_ca"


def test_a_ca_that_is_elsewhere_is_asked_for() -> None:
    reason = refusal(kubeconfig(cluster={"certificate-authority": "/etc/ca.crt"}))
    assert reason == Reason.of(
        "kubeconfig_missing_file",
        path="/etc/ca.crt",
        field="certificate-authority-data",
    )


def test_a_proxy_is_refused() -> None:
    proxied = kubeconfig(cluster={"proxy-url": "http://proxy:3128"})
    assert refusal(proxied).key == "kubeconfig_proxy"


def test_the_tls_server_name_is_what_the_certificate_must_hold() -> None:
    config = read(kubeconfig(cluster={"tls-server-name": "kubernetes"}))
    assert config.server_name == "kubernetes"


def test_base64_may_be_folded_over_lines() -> None:
    user = {"client-certificate-data": "Zm\n9v\n", "client-key-data": BAR}
    config = read(kubeconfig(user))
    assert (config.client_cert_pem, config.client_key_pem) == ("foo", "bar")


FILES = """
apiVersion: v1
kind: Config
current-context: paths
clusters:
- name: home
  cluster: {server: "https://192.0.2.9:6443", certificate-authority-data: Zm9v}
contexts:
- {name: paths, context: {cluster: home, user: paths}}
- {name: both, context: {cluster: home, user: both}}
- {name: halfcert, context: {cluster: home, user: halfcert}}
- {name: token, context: {cluster: home, user: token}}
users:
- name: paths
  user: {client-certificate: pki/client.crt, client-key: pki/client.key}
- name: both
  user:
    client-certificate-data: Zm9v
    client-key-data: YmFy
    client-certificate: pki/client.crt
    client-key: pki/client.key
- {name: halfcert, user: {client-certificate-data: Zm9v}}
- {name: token, user: {token: not-a-secret, tokenFile: /var/run/secrets/token}}
"""


def test_files_that_stayed_behind_are_named() -> None:
    reason = refusal(FILES)
    assert reason.key == "kubeconfig_missing_file"
    assert reason.placeholders["path"] == "pki/client.crt"
    assert reason.placeholders["field"] == "client-certificate-data"


def test_data_beside_a_path_wins() -> None:
    config = read(FILES, "both")
    assert (config.client_cert_pem, config.client_key_pem) == ("foo", "bar")


def test_a_certificate_without_its_key_names_the_key() -> None:
    assert refusal(FILES, "halfcert").key == "kubeconfig_client_key_missing"


def test_a_token_beside_a_token_file_is_enough() -> None:
    assert read(FILES, "token").token == SECRET


def test_contexts_are_listed_and_chosen() -> None:
    config = read(FILES, "both")
    assert config.context == "both"
    assert config.contexts == ("paths", "both", "halfcert", "token")


def test_a_context_that_is_not_there_is_told_from_those_that_are() -> None:
    reason = refusal(FILES, "nope")
    assert reason.key == "kubeconfig_no_context"
    assert reason.placeholders["contexts"] == "paths, both, halfcert, token"


def test_a_single_context_needs_no_current_one() -> None:
    assert read(kubeconfig(**{"current-context": ""})).context == "home"


def test_no_context_at_all_is_said() -> None:
    reason = refusal(kubeconfig(contexts=None, **{"current-context": None}))
    assert reason.key == "kubeconfig_no_context"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"users": []}, "kubeconfig_no_user"),
        ({"users": [{"name": "me"}]}, "kubeconfig_no_user"),
        ({"users": ["me"]}, "kubeconfig_no_user"),
        ({"clusters": []}, "kubeconfig_no_cluster"),
    ],
)
def test_a_context_that_leads_nowhere_is_said(
    changes: dict[str, Any], key: str
) -> None:
    assert refusal(kubeconfig(**changes)).key == key


def test_an_empty_context_names_no_user() -> None:
    contexts = [{"name": "home", "context": {"cluster": "home"}}]
    assert refusal(kubeconfig(contexts=contexts)).key == "kubeconfig_no_user"


def at(server: str) -> Kubeconfig:
    """Read a kubeconfig with this server."""
    return read(kubeconfig(cluster={"server": server}))


@pytest.mark.parametrize(
    ("server", "address"),
    [
        ("https://127.0.0.1:6443", "127.0.0.1:6443"),
        ("https://[::1]:6443", "[::1]:6443"),
        ("https://localhost:6443", "localhost:6443"),
        ("https://0.0.0.0:6443", "0.0.0.0:6443"),
    ],
)
def test_loopback_means_home_assistant_itself(server: str, address: str) -> None:
    config = at(server)
    assert config.is_loopback
    assert config.loopback_warning == Reason.of("kubeconfig_loopback", address=address)


@pytest.mark.parametrize("host", ["tower.lan", "192.0.2.9", "[fd00:db8::10]"])
def test_another_machine_is_no_loopback(host: str) -> None:
    assert not at(f"https://{host}:6443").is_loopback


@pytest.mark.parametrize(
    ("server", "host", "port", "base_path"),
    [
        ("https://[fd00:db8::10]:6443", "fd00:db8::10", 6443, ""),
        ("https://tower.lan", "tower.lan", 443, ""),
        ("https://tower.lan:6443/", "tower.lan", 6443, ""),
        (
            "https://rancher.lan/k8s/clusters/c-1/",
            "rancher.lan",
            443,
            "/k8s/clusters/c-1",
        ),
        (" https://Tower:6443 ", "tower", 6443, ""),
    ],
)
def test_a_server_address_is_taken_apart(
    server: str, host: str, port: int, base_path: str
) -> None:
    address = at(server).address
    assert (address.host, address.port, address.base_path) == (host, port, base_path)


@pytest.mark.parametrize(
    "server",
    [
        "https://fd00:db8::10:6443",
        "https://[fd00:db8::10:6443",
        "https://[name]:6443",
        "https://tower.lan:many",
        "https://tower.lan:99999",
        "https://",
        "https://tower lan:6443",
        "https://tower.lan:6443/?a=b",
        "192.0.2.9:6443",
        "tower.lan",
        "",
    ],
)
def test_a_server_address_that_cannot_be_read_is_named(server: str) -> None:
    with pytest.raises(HandoffError) as caught:
        at(server)
    assert caught.value.reason == Reason.of("kubeconfig_bad_server", server=server)


def test_a_password_in_the_address_is_not_shown() -> None:
    with pytest.raises(HandoffError) as caught:
        at(f"https://me:{SECRET}@tower.lan:6443")
    assert caught.value.reason == Reason.of(
        "kubeconfig_bad_server", server="tower.lan:6443"
    )


def test_an_unencrypted_server_is_refused() -> None:
    with pytest.raises(HandoffError) as caught:
        at("http://tower.lan:8080")
    assert caught.value.reason.key == "kubeconfig_not_https"
