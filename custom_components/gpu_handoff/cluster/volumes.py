"""Volumes of drained pods: a card must not leave while the node still writes to them."""

from collections.abc import Iterable

from ..handoff.reason import HandoffError
from . import paths
from .client import Api


async def volumes_of(api: Api, claims: Iterable[tuple[str, str]]) -> set[str]:
    """Name the volumes behind claims; those that may not be read are left out."""
    names: set[str] = set()
    for namespace, name in claims:
        try:
            claim = await api.get(paths.claim(namespace, name))
        except HandoffError:
            continue
        if volume := claim.get("spec", {}).get("volumeName"):
            names.add(volume)
    return names


async def still_attached(api: Api, node_name: str, volumes: set[str]) -> set[str]:
    """Tell which of these volumes the node has yet; none where we may not look."""
    try:
        listed = await api.get(paths.ATTACHMENTS)
    except HandoffError:
        return set()
    specs = [item.get("spec", {}) for item in listed.get("items") or ()]
    attached = {
        str(spec.get("source", {}).get("persistentVolumeName"))
        for spec in specs
        if spec.get("nodeName") == node_name
    }
    return volumes & attached
