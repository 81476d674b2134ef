"""What a login shell does with a line before anything in it runs."""

import re

from .host import Host, Shell
from .output import Output

_NOLOGIN = Output("This account is currently not available.\n", "", 1)
_FISH_STATUS = Output(
    "",
    "fish: $? is not the exit status. In fish, please use $status.\n",
    0,
)
_TCSH_QUOTES = Output("", "Unmatched '''.\n", 1)
_QUOTED = re.compile(r"'[^']*'")


def before_script(host: Host, line: str) -> Output | None:
    """The shell's own refusal, None if it runs the line as it stands."""
    if host.shell is Shell.NOLOGIN:
        return _NOLOGIN
    outside = _QUOTED.sub("", line)
    if host.shell is Shell.FISH and ("$?" in outside or "\\" in line):
        return _FISH_STATUS
    if host.shell is Shell.TCSH and ("!" in line or "'" in outside):
        return _TCSH_QUOTES
    return None
