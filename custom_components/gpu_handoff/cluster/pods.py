"""Which pods a drain moves, leaves or is stopped by: the filters of `kubectl drain`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..handoff.reason import Reason
from ..handoff.world import Fate
from .selector import matches, parse

MIRROR = "kubernetes.io/config.mirror"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainOptions:
    """What the household allows. `protect`: a label selector of pods never to be moved."""

    delete_emptydir: bool = True
    evict_unmanaged: bool = False
    protect: str = ""


def full_name(pod: Mapping[str, Any]) -> str:
    """Namespace and name, as kubectl prints them."""
    meta = pod["metadata"]
    return f"{meta.get('namespace', 'default')}/{meta['name']}"


def judge(pod: Mapping[str, Any], options: DrainOptions) -> tuple[Fate, Reason | None]:
    """Tell a pod's fate, in the order of kubectl's own filters (kubectl pkg/drain)."""
    meta, name = pod["metadata"], full_name(pod)
    finished = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    owner = _controller(pod)
    if MIRROR in (meta.get("annotations") or {}):
        return Fate.IGNORE, None
    if owner.get("kind") == "DaemonSet" and not finished:
        return Fate.IGNORE, None
    if meta.get("deletionTimestamp"):
        return Fate.LEAVING, _held(pod)
    if finished:
        return Fate.EVICT, None
    if matches(parse(options.protect), meta.get("labels") or {}):
        return Fate.BLOCKED, Reason.of(
            "pod_protected", pod=name, selector=options.protect
        )
    if _has_emptydir(pod) and not options.delete_emptydir:
        return Fate.BLOCKED, Reason.of("pod_emptydir", pod=name)
    if not owner and not options.evict_unmanaged:
        return Fate.BLOCKED, Reason.of("pod_unmanaged", pod=name)
    return Fate.EVICT, None


def _controller(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller") is True), {})


def _has_emptydir(pod: Mapping[str, Any]) -> bool:
    volumes = pod.get("spec", {}).get("volumes") or ()
    return any("emptyDir" in volume for volume in volumes)


def _held(pod: Mapping[str, Any]) -> Reason | None:
    finalizers = pod["metadata"].get("finalizers")
    if not finalizers:
        return None
    return Reason.of(
        "pod_finalizer", pod=full_name(pod), finalizer=", ".join(finalizers)
    )


def claims_of(pod: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The volume claims that a pod uses, as namespace and name."""
    namespace = pod["metadata"].get("namespace", "default")
    return [
        (namespace, volume["persistentVolumeClaim"]["claimName"])
        for volume in pod.get("spec", {}).get("volumes") or ()
        if "persistentVolumeClaim" in volume
    ]
