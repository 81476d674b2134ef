"""Names that the integration and its stored data share."""

from typing import Final

DOMAIN: Final = "gpu_handoff"

CONF_API_HOST: Final = "api_host"
CONF_CARDS: Final = "cards"
CONF_CLUSTER: Final = "cluster"
CONF_CONTEXT: Final = "context"
CONF_DRAIN_POLICY: Final = "drain_policy"
CONF_FORCED_COMMAND: Final = "forced_command"
CONF_GIVE_BACK: Final = "give_back_by_itself"
CONF_HOST_KEY: Final = "host_key"
CONF_KUBECONFIG: Final = "kubeconfig"
CONF_NODE_NAME: Final = "node_name"
CONF_NOWAIT: Final = "nowait"
CONF_PASSPHRASE: Final = "passphrase"  # noqa: S105 - a field's name
CONF_PRIVATE_KEY: Final = "private_key"
CONF_PROTECT: Final = "protect"
CONF_SUDO: Final = "sudo"
CONF_URI: Final = "uri"
CONF_VIA_TUNNEL: Final = "via_tunnel"
CONF_VIRSH: Final = "virsh"
CONF_VM_ID: Final = "vm_id"

SUBENTRY_GAMING: Final = "gaming_vm"
SUBENTRY_NODE: Final = "gpu_node"
