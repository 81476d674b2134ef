"""Who a host is and how its libvirt is spoken to, read from the `hello` request."""

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Hello:
    """What a host said of itself. `sudo` is the first one that really has setuid."""

    machine_id: str = ""
    boot_id: str = ""
    hostname: str = ""
    uid: int = -1
    user: str = ""
    virsh: str = ""
    version: str = ""
    nowait: bool = False
    sudo: str = ""
    powerless_sudo: str = ""
    sockets: list[str] = field(default_factory=list)


def read_hello(stdout: str) -> Hello:
    """Read the request's answer."""
    hello = Hello()
    for line in stdout.splitlines():
        key, _, value = line.partition("=")
        match key:
            case "uid":
                hello.uid = int(value) if value.isdigit() else -1
            case "nowait":
                hello.nowait = value == "yes"
            case "socket":
                hello.sockets.append(value)
            case "sudo" | "powerless_sudo":
                setattr(hello, key, getattr(hello, key) or value)
            case "machine_id" | "boot_id" | "hostname" | "user" | "virsh" | "version":
                setattr(hello, key, value.strip())
    return hello
