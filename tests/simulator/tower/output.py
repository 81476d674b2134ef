"""What a command prints, and how it ends."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Output:
    """`status` as a shell sees it; 0 is success. `chatter`: what virsh -q leaves out."""

    stdout: str = ""
    stderr: str = ""
    status: int = 0
    chatter: str = ""

    def after(self, earlier: str) -> Output:
        """The same, with something printed before it."""
        return Output(earlier + self.stdout, self.stderr, self.status)
