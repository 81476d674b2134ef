"""What came back from the host for one request."""

from dataclasses import dataclass

from .errors import Unreachable
from .scripts import BEGIN

_NO_LOGIN = "account is currently not available"
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was printed, and how it ended.

    `exit_status` None: the connection was lost on the way, and the outcome is unknown.
    Negative: ended by that signal.
    """

    stdout: str = ""
    stderr: str = ""
    exit_status: int | None = 0

    @property
    def said(self) -> str:
        """What a person may want to read of it: the end of the errors, else of the text."""
        return (self.stderr.strip() or self.stdout.strip())[-_SHOWN:]


def without_banner(answer: Answer, user: str) -> Answer:
    """Cut off what the login itself printed; raise if our script never ran."""
    banner, begun, stdout = answer.stdout.partition(BEGIN)
    if begun:
        return Answer(
            stdout=stdout.removeprefix("\n"),
            stderr=answer.stderr,
            exit_status=answer.exit_status,
        )
    raise never_began(banner, answer, user)


def never_began(banner: str, answer: Answer, user: str) -> Unreachable:
    """Say why nothing of ours ran."""
    if answer.exit_status is None:
        return Unreachable("connection_lost")
    if _NO_LOGIN in banner or _NO_LOGIN in answer.stderr:
        return Unreachable("account_disabled", user=user)
    said = answer.said or f"exit status {answer.exit_status}"
    return Unreachable("login_shell", user=user, said=said)
