"""The cluster: a Kubernetes API over HTTPS, with two nodes and the controllers it needs."""
