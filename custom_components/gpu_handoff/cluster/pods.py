"""Which pods a drain moves, leaves or is stopped by: the filters of `kubectl drain`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..handoff.reason import Reason
from ..handoff.world import Fate
from .selector import matches, parse

MIRROR = "kubernetes.io/config.mirror"

type RawPod = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainOptions:
    """What the household allows. `protect`: a label selector of pods never to be moved."""

    delete_emptydir: bool = True
    evict_unmanaged: bool = False
    protect: str = ""


def judge(pod: RawPod, options: DrainOptions) -> tuple[Fate, Reason | None]:
    """Tell a pod's fate by the first rule that fits, in the order of kubectl's filters.

    Like kubectl, a pod that a DaemonSet or the kubelet itself keeps is not waited for even
    while it ends; a finished pod can always go. Protection is the household's own rule.
    """
    fate, why = next(
        (fate, why) for fits, fate, why in RULES if fits is None or fits(pod, options)
    )
    return fate, why and why(pod, options)


def full_name(pod: RawPod) -> str:
    """Namespace and name, as kubectl prints them."""
    meta = pod["metadata"]
    return f"{meta.get('namespace', 'default')}/{meta['name']}"


def is_managed(pod: RawPod) -> bool:
    """Whether a controller will make a new one elsewhere."""
    return bool(_controller(pod))


def claims_of(pod: RawPod) -> Iterator[tuple[str, str]]:
    """Name the volume claims that a pod uses, as namespace and name."""
    meta = pod["metadata"]
    for volume in _volumes(pod):
        if claim := volume.get("persistentVolumeClaim"):
            yield meta["namespace"], claim["claimName"]
        elif "ephemeral" in volume:
            yield meta["namespace"], f"{meta['name']}-{volume['name']}"


def _controller(pod: RawPod) -> Mapping[str, Any]:
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller") is True), {})


def _volumes(pod: RawPod) -> tuple[Mapping[str, Any], ...]:
    return tuple((pod.get("spec") or {}).get("volumes") or ())


def _is_finished(pod: RawPod) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _stays_finished(pod: RawPod, _: DrainOptions) -> bool:
    return _is_finished(pod)


def _stays_by_itself(pod: RawPod, _: DrainOptions) -> bool:
    """A mirror pod, or one of a DaemonSet that has not finished."""
    if MIRROR in (pod["metadata"].get("annotations") or {}):
        return True
    return _controller(pod).get("kind") == "DaemonSet" and not _is_finished(pod)


def _is_going(pod: RawPod, _: DrainOptions) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _is_going_by_itself(pod: RawPod, options: DrainOptions) -> bool:
    return _is_going(pod, options) and _stays_by_itself(pod, options)


def _is_protected(pod: RawPod, options: DrainOptions) -> bool:
    labels = pod["metadata"].get("labels") or {}
    return matches(parse(options.protect), labels) and not _is_finished(pod)


def _has_local_data(pod: RawPod, options: DrainOptions) -> bool:
    kept = any("emptyDir" in volume for volume in _volumes(pod))
    return kept and not options.delete_emptydir


def _is_unreplicated(pod: RawPod, options: DrainOptions) -> bool:
    return not is_managed(pod) and not options.evict_unmanaged


def _held_by(pod: RawPod, _: DrainOptions) -> Reason | None:
    finalizers = pod["metadata"].get("finalizers")
    if not finalizers:
        return None
    return Reason.of(
        "pod_finalizer", pod=full_name(pod), finalizer=", ".join(finalizers)
    )


def _protected(pod: RawPod, options: DrainOptions) -> Reason:
    return Reason.of(
        "pod_protected", pod=full_name(pod), selector=options.protect.strip()
    )


def _local_data(pod: RawPod, _: DrainOptions) -> Reason:
    return Reason.of("pod_emptydir", pod=full_name(pod))


def _unreplicated(pod: RawPod, _: DrainOptions) -> Reason:
    return Reason.of("pod_unmanaged", pod=full_name(pod))


type _Test = Callable[[RawPod, DrainOptions], bool]
type _Why = Callable[[RawPod, DrainOptions], Reason | None]

RULES: tuple[tuple[_Test | None, Fate, _Why | None], ...] = (
    (_is_going_by_itself, Fate.IGNORE, None),
    (_is_going, Fate.LEAVING, _held_by),
    (_is_protected, Fate.BLOCKED, _protected),
    (_stays_by_itself, Fate.IGNORE, None),
    (_stays_finished, Fate.EVICT, None),
    (_has_local_data, Fate.BLOCKED, _local_data),
    (_is_unreplicated, Fate.BLOCKED, _unreplicated),
    (None, Fate.EVICT, None),
)
