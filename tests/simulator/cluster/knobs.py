"""How long the cluster's parts take, in the house's seconds."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class ClusterKnobs:
    """Everything that can be turned on the cluster.

    `ready_s`: from a machine's start until its node is Ready; `gpu_s`: from there until the
    device plugin has registered. `grace_s`: how long a silent node passes for Ready.
    `pod_stop_s`: how long containers take to end, at most their grace period (None: all of
    it). `uuid_style`: how the firmware writes systemUUID: lower, upper, or swapped bytes.
    """

    ready_s: float = 8.0
    gpu_s: float = 3.0
    lease_s: float = 10.0
    grace_s: float = 40.0
    pod_start_s: float = 0.8
    pod_stop_s: float | None = None
    budget_s: float = 0.1
    detach_s: float = 1.0
    step_s: float = 0.02
    bookmark_s: float = 60.0
    uuid_style: str = "lower"
