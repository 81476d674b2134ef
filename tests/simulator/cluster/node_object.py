"""Node and Lease as a kubelet writes them."""

from dataclasses import dataclass, field
from typing import Any
import uuid

from .store import Object, micro_timestamp, timestamp

LEASES = "kube-node-lease"
GPU = "nvidia.com/gpu"
_CONDITIONS = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)


@dataclass(slots=True, kw_only=True)
class Machine:
    """What a kubelet tells of the machine it runs on."""

    name: str
    system_uuid: str
    address: str
    cpu: str = "8"
    memory: str = "32Gi"
    gpus: int = 0
    boot_id: str = field(default_factory=lambda: str(uuid.uuid4()))


def swapped(text: str) -> str:
    """The UUID with its first three fields byte-swapped, as some firmware has it."""
    return str(uuid.UUID(bytes_le=uuid.UUID(text).bytes))


STYLES = {"lower": str.lower, "upper": str.upper, "swapped": swapped}


def node(machine: Machine, *, gpus_ready: bool) -> Object:
    labels = {
        f"{domain}/{key}": value
        for domain in ("beta.kubernetes.io", "kubernetes.io")
        for key, value in (("arch", "amd64"), ("os", "linux"))
    }
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": machine.name,
            "labels": labels | {"kubernetes.io/hostname": machine.name},
        },
        "spec": {},
        "status": status(machine, gpus_ready=gpus_ready),
    }


def status(machine: Machine, *, gpus_ready: bool) -> Object:
    return {
        "capacity": _resources(machine, machine.gpus),
        "allocatable": _resources(machine, machine.gpus if gpus_ready else 0),
        "conditions": conditions_ok(),
        "addresses": [
            {"type": "InternalIP", "address": machine.address},
            {"type": "Hostname", "address": machine.name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": {
            "machineID": machine.system_uuid.replace("-", "").lower(),
            "systemUUID": machine.system_uuid,
            "bootID": machine.boot_id,
            "kernelVersion": "6.1.0-sim",
            "osImage": "k8slab node",
            "containerRuntimeVersion": "containerd://2.1.0",
            "kubeletVersion": "v1.37.2",
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": "amd64",
        },
    }


def _resources(machine: Machine, gpus: int) -> dict[str, str]:
    resources = {
        "cpu": machine.cpu,
        "ephemeral-storage": "100Gi",
        "memory": machine.memory,
        "pods": "110",
    }
    if machine.gpus:
        resources[GPU] = str(gpus)
    return resources


def conditions_ok() -> list[Object]:
    conditions = [
        _condition(kind, "False", reason, message)
        for kind, reason, message in _CONDITIONS
    ]
    message = "kubelet is posting ready status"
    return [*conditions, _condition("Ready", "True", "KubeletReady", message)]


def conditions_unknown() -> list[Object]:
    message = "Kubelet stopped posting node status."
    kinds = [kind for kind, _, _ in _CONDITIONS] + ["Ready"]
    return [_condition(kind, "Unknown", "NodeStatusUnknown", message) for kind in kinds]


def _condition(kind: str, state: str, reason: str, message: str) -> Object:
    return {
        "type": kind,
        "status": state,
        "lastHeartbeatTime": timestamp(),
        "lastTransitionTime": timestamp(),
        "reason": reason,
        "message": message,
    }


def is_ready(item: Any) -> bool:
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in item["status"]["conditions"]
    )


def lease(name: str) -> Object:
    return {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {"name": name, "namespace": LEASES},
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": 40,
            "renewTime": micro_timestamp(),
        },
    }
