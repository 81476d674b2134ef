"""The paths of an API server, and what an administrator calls them."""

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def node(name: str) -> str:
    """Path of one node."""
    return f"{NODES}/{name}"


def eviction(namespace: str, pod: str) -> str:
    """Path that a pod is evicted by."""
    return f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction"


def budgets(namespace: str) -> str:
    """Path of a namespace's disruption budgets."""
    return f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"


def claim(namespace: str, name: str) -> str:
    """Path of one volume claim."""
    return f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}"


def resource_of(path: str) -> str:
    """Name the resource as a role does: `nodes`, `pods/eviction`."""
    parts = _parts(path)
    return "/".join([parts[0], *parts[2:]])


def verb_of(method: str, path: str) -> str:
    """Name the verb as a role does."""
    if method == "GET" and len(_parts(path)) == 1:
        return "list"
    return {"GET": "get", "POST": "create"}.get(method, method.lower())


def _parts(path: str) -> list[str]:
    """Split into resource, name and subresource."""
    parts = path.strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    return parts[2:] if parts[0] == "namespaces" and len(parts) > 2 else parts
