"""What a login puts around our answers."""

import pytest

from custom_components.gpu_handoff.tower.answer import Answer, without_banner
from custom_components.gpu_handoff.tower.errors import Unreachable
from custom_components.gpu_handoff.tower.scripts import BEGIN


@pytest.mark.parametrize(
    "banner", ["", "Welcome!\n", "\x1b[2J no newline at the end ", "a=1\nboot_id=x\n"]
)
def test_what_the_login_printed_is_cut_off(banner: str) -> None:
    answer = Answer(stdout=f"{banner}{BEGIN}\nuid=0\n", stderr="e", exit_status=3)
    assert without_banner(answer, "me") == Answer(
        stdout="uid=0\n", stderr="e", exit_status=3
    )


FISH = (
    "fish: $? is not the exit status. In fish, please use $status.\n"
    "virsh list --uuid; echo $?\n                         ^\n"
)


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        (Answer(stderr=FISH), "login_shell"),
        (Answer(stderr="fish: Unknown command\n", exit_status=127), "login_shell"),
        (Answer(stderr="LC_ALL=C: Command not found.\n", exit_status=1), "login_shell"),
        (Answer(stdout="", exit_status=0), "login_shell"),
        (
            Answer(stdout="This account is currently not available.\n", exit_status=1),
            "account_disabled",
        ),
        (
            Answer(stderr="This account is currently not available.\n", exit_status=1),
            "account_disabled",
        ),
        (Answer(stdout="half a ban", exit_status=None), "connection_lost"),
    ],
)
def test_an_answer_without_our_beginning_is_a_sentence_and_never_empty_data(
    answer: Answer, key: str
) -> None:
    with pytest.raises(Unreachable) as caught:
        without_banner(answer, "games")
    assert caught.value.reason.key == key


def test_the_sentence_about_an_account_names_it() -> None:
    said = "This account is currently not available.\n"
    with pytest.raises(Unreachable) as caught:
        without_banner(Answer(stdout=said, exit_status=1), "games")
    assert caught.value.reason.placeholders == {"user": "games"}


def test_the_sentence_about_a_login_shell_shows_what_it_said() -> None:
    with pytest.raises(Unreachable) as caught:
        without_banner(Answer(stderr=FISH), "games")
    assert "fish: $? is not" in caught.value.reason.placeholders["said"]
    with pytest.raises(Unreachable) as caught:
        without_banner(Answer(exit_status=7), "games")
    assert caught.value.reason.placeholders["said"] == "exit status 7"
