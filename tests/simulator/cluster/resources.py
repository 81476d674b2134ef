"""The kinds of objects that the API serves, and how their paths are read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of object."""

    plural: str
    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = False

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


_ALL = (
    Resource("nodes", "Node"),
    Resource("namespaces", "Namespace"),
    Resource("persistentvolumes", "PersistentVolume"),
    Resource("pods", "Pod", namespaced=True),
    Resource("events", "Event", namespaced=True),
    Resource("configmaps", "ConfigMap", namespaced=True),
    Resource("persistentvolumeclaims", "PersistentVolumeClaim", namespaced=True),
    Resource("leases", "Lease", "coordination.k8s.io", namespaced=True),
    Resource("poddisruptionbudgets", "PodDisruptionBudget", "policy", namespaced=True),
    Resource("volumeattachments", "VolumeAttachment", "storage.k8s.io"),
    Resource("deployments", "Deployment", "apps", namespaced=True),
    Resource("replicasets", "ReplicaSet", "apps", namespaced=True),
    Resource("daemonsets", "DaemonSet", "apps", namespaced=True),
    Resource("statefulsets", "StatefulSet", "apps", namespaced=True),
    Resource("jobs", "Job", "batch", namespaced=True),
    Resource("resourceslices", "ResourceSlice", "resource.k8s.io"),
)
RESOURCES = {(it.group, it.version, it.plural): it for it in _ALL}
BY_PLURAL = {it.plural: it for it in _ALL}


@dataclass(frozen=True, slots=True)
class Place:
    """What a path means: a resource, and as much of an object as it names."""

    resource: Resource
    namespace: str | None = None
    name: str | None = None
    subresource: str | None = None

    @property
    def full_resource(self) -> str:
        """As a role names it: `pods/eviction`."""
        plural = self.resource.plural
        return f"{plural}/{self.subresource}" if self.subresource else plural


def read_path(path: str) -> Place | None:
    """Read `/api/v1/...` and `/apis/GROUP/VERSION/...`; None for anything else."""
    root, *parts = path.strip("/").split("/")
    if root == "api":
        group = ""
    elif root == "apis" and parts:
        group = parts.pop(0)
    else:
        return None
    if not parts:
        return None
    version = parts.pop(0)
    namespace = None
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        namespace, parts = parts[1], parts[2:]
    if not parts or (resource := RESOURCES.get((group, version, parts[0]))) is None:
        return None
    return Place(resource, namespace, *parts[1:3])
