"""The same requests for an account that may do nothing else: a forced command of sshd."""

from .commands import VERBS, HostContext, preamble
from .scripts import BEGIN, NO_SUCH_REQUEST

_HEAD = """\
#!/bin/sh
# Runs the requests of GPU Handoff and nothing else: a verb, and arguments that are UUIDs,
# addresses or numbers. It is made from the same table as the requests themselves.
LC_ALL=C; export LC_ALL
set -f
set -- ${SSH_ORIGINAL_COMMAND:-}
set +f
verb=${1:-}
if [ $# -gt 0 ]; then shift; fi
for i do
  case $i in
    [!0-9a-f]* | *[!0-9a-f.:-]*) verb= ;;
  esac
done
case $verb in
"""

_TAIL = f"""\
*)
  echo "{BEGIN}"
  echo "{NO_SUCH_REQUEST}" >&2
  exit 64
  ;;
esac
"""


def script(context: HostContext) -> str:
    """Write the script to put on the host, for `command="..."` in authorized_keys."""
    branches = (
        f"{verb.name})\n  {preamble(verb, context)} {verb.script}\n  ;;\n"
        for verb in VERBS.values()
    )
    return _HEAD + "".join(branches) + _TAIL


def authorized_key(public_key: str, path: str, *, tunnel_to: str | None = None) -> str:
    """The line for authorized_keys: this key may run the script at `path` only.

    `tunnel_to`: the one `host:port` that it may reach through the host as well.
    """
    allowed = f',port-forwarding,permitopen="{tunnel_to}"' if tunnel_to else ""
    return f'restrict{allowed},command="{path}" {public_key}'
