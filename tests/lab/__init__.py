"""The real thing: libvirtd, QEMU guests, OpenSSH and Kubernetes, on one machine, no hardware."""

from .requirements import why_not

__all__ = ["why_not"]
