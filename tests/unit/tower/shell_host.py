"""A folder that passes for a host: programs of its own, a PCI bus, files; run by real sh."""

from collections.abc import Sequence
import os
from pathlib import Path
import shutil
import subprocess

from custom_components.gpu_handoff.tower.commands import HostContext, command_line

TOOLS = (
    "cat",
    "find",
    "grep",
    "id",
    "ls",
    "readlink",
    "sh",
    "sleep",
    "timeout",
    "uname",
)

TOPS = ("/sys/", "/proc/driver", "/etc/", "/run/", "/var/", "/usr/")

VIRSH = """\
#!/bin/sh
{ printf '%s\\n' "$*"; } >>"$FAKE_HOST/calls"
case "$*" in
  --version) echo 9.0.0; exit;;
  help*) cat "$FAKE_HOST/help" 2>/dev/null; exit;;
  *" event "*|*"; event "*)
    echo $$ >"$FAKE_HOST/event.pid"
    echo qemu:///system
    cat "$FAKE_HOST/events" 2>/dev/null
    exec sleep 30;;
esac
cat "$FAKE_HOST/stdout" 2>/dev/null
cat "$FAKE_HOST/stderr" >&2 2>/dev/null
exit "$(cat "$FAKE_HOST/rc" 2>/dev/null || echo 0)"
"""

PASSING_SUDO = """\
#!/bin/sh
echo "sudo $*" >>"$FAKE_HOST/calls"
[ "$1" = -n ] && shift
exec "$@"
"""


class ShellHost:
    """Everything that the scripts touch, below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            path = shutil.which(tool)
            if path:
                (self.bin / tool).symlink_to(path)
        self.program("virsh", VIRSH)
        self.write("help", "    --nowait   report only stats that are at hand\n")

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.bin), "FAKE_HOST": str(self.root)}

    @property
    def calls(self) -> list[str]:
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def program(self, name: str, text: str, *, setuid: bool = False) -> Path:
        path = self.root / name if name.startswith("usr") else self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o4755 if setuid else 0o755)
        return path

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def link(self, name: str, target: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def pci(self, address: str, driver: str | None, group: str, **facts: str) -> None:
        """Put a function on the bus."""
        folder = f"sys/bus/pci/devices/{address}"
        for name, value in facts.items():
            self.write(f"{folder}/{name}", f"{value}\n")
        if driver:
            self.link(f"{folder}/driver", f"/sys/bus/pci/drivers/{driver}")
        members = self.root / f"sys/kernel/iommu_groups/{group}/devices"
        members.mkdir(parents=True, exist_ok=True)
        (members / address).symlink_to(self.root / folder)
        self.link(f"{folder}/iommu_group", str(members.parent))

    def here(self, text: str) -> str:
        """The same script, with this folder's files instead of the machine's."""
        text = text.replace(" /bin/sudo", f" {self.root}/bin/sudo")
        for top in TOPS:
            text = text.replace(f" {top}", f" {self.root}{top}")
            text = text.replace(f'"{top}', f'"{self.root}{top}')
            text = text.replace(f":{top}", f":{self.root}{top}")
        for top in (":/bin:", ":/sbin:"):
            text = text.replace(top, f":{self.root}{top[1:]}")
        return text

    def run(
        self,
        verb: str,
        args: Sequence[str] = (),
        context: HostContext | None = None,
        shell: str = "/bin/sh",
    ) -> subprocess.CompletedProcess[str]:
        """Run a request as sshd does: through the login shell."""
        line = self.here(command_line(verb, args, context))
        return subprocess.run(
            [shell, "-c", line],
            check=False,
            capture_output=True,
            text=True,
            timeout=30,
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
        )
