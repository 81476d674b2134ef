"""What runs in the demo's cluster, so that a drain has something to do."""

from .cluster.pod_object import PodPlan
from .cluster.sim_cluster import SimCluster


def furnish(cluster: SimCluster, node: str) -> None:
    """A service that may lose one pod at a time, work for the cards, and a daemon."""
    search = PodPlan(labels={"app": "photo-search"}, prefers=node, grace_s=3)
    cluster.create_deployment("photo-search", replicas=2, plan=search)
    cluster.create_pdb("photo-search", match_labels=search.labels, min_available=1)
    chat = PodPlan(labels={"app": "chat"}, gpus=1, grace_s=2, empty_dir=True)
    cluster.create_deployment("chat", plan=chat)
    cluster.create_daemon_set("node-exporter", namespace="monitoring")
