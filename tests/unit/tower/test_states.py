"""libvirt's numbers, made a power state."""

import pytest

from custom_components.gpu_handoff.handoff.world import Power
from custom_components.gpu_handoff.tower.states import read_state


def said(state: object, reason: object = 0) -> str:
    return f"Domain: 'x'\n  state.state={state}\n  state.reason={reason}\n\n"


@pytest.mark.parametrize(
    ("state", "power"),
    [
        (1, Power.RUNNING),
        (2, Power.RUNNING),
        (3, Power.PAUSED),
        (4, Power.STOPPING),
        (5, Power.OFF),
        (6, Power.CRASHED),
        (7, Power.SLEEPING),
        (0, Power.UNKNOWN),
        (8, Power.UNKNOWN),
        (-1, Power.UNKNOWN),
        ("five", Power.UNKNOWN),
        ("", Power.UNKNOWN),
        ("²", Power.UNKNOWN),
    ],
)
def test_a_number_is_a_power_state(state: object, power: Power) -> None:
    assert read_state(said(state))[0] is power


@pytest.mark.parametrize(
    "text",
    [
        "",
        "laufend\n",
        "en cours d'exécution\n",
        "実行中\n",
        "shut off\n",
        "error: failed to get domain 'x'\n",
    ],
)
def test_words_in_any_language_are_unknown_and_never_off(text: str) -> None:
    assert read_state(text) == (Power.UNKNOWN, "")


@pytest.mark.parametrize(
    ("state", "reason", "because"),
    [
        (5, 6, "failed"),
        (5, 3, "crashed"),
        (5, 1, "shutdown"),
        (5, 0, ""),
        (5, 99, ""),
        (6, 1, "panicked"),
        (3, 1, "user"),
        (3, 5, "I/O error"),
        (1, 1, "booted"),
        (7, 0, ""),
    ],
)
def test_the_reason_is_libvirts_own_word(state: int, reason: int, because: str) -> None:
    assert read_state(said(state, reason))[1] == because


@pytest.mark.parametrize(
    ("reason", "power"),
    [
        (1, Power.PAUSED),
        (5, Power.PAUSED),
        (8, Power.STOPPING),
        (11, Power.UNKNOWN),
        (2, Power.UNKNOWN),
        (10, Power.UNKNOWN),
    ],
)
def test_what_libvirt_itself_pauses_is_nothing_to_resume(
    reason: int, power: Power
) -> None:
    assert read_state(said(3, reason))[0] is power
