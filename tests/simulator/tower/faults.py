"""What may go wrong between the client and the host, switched on and off at will."""

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class TowerFaults:
    """`hang`: commands are taken and never answered. `answer_delay_s`: every answer is late.

    `cut`: verbs whose next answer is cut off in the middle, with the connection.
    `no_sessions`: every session is refused, as with MaxSessions 0. `no_tunnel`: the server
    forwards no ports.
    """

    hang: bool = False
    answer_delay_s: float = 0.0
    cut: set[str] = field(default_factory=set)
    no_sessions: bool = False
    no_tunnel: bool = False
