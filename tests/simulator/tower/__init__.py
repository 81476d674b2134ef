"""The tower: a host with libvirt, its machines and its cards, behind a real SSH server."""
