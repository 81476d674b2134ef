"""Everything said to Kubernetes: the node, its pods, the drain. No Home Assistant."""
