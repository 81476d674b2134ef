"""Every error of the tower is a sentence in each language."""

import ast
from collections.abc import Iterator
import json
from pathlib import Path
import re

import pytest

import custom_components.gpu_handoff.tower as package
from custom_components.gpu_handoff.tower import complaints

ROOMS = Path(package.__file__).parent
TRANSLATIONS = ROOMS.parent / "translations"
ERRORS = {"Unreachable", "HandoffError", "LoginRefused", "HostKeyChanged", "ActFailed"}


def said() -> Iterator[tuple[str, set[str]]]:
    """Each key that the code names, with the placeholders that come with it."""
    for path in ROOMS.glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.func)
            key = call.args[0] if call.args else None
            if name in {*ERRORS, "Reason.of"} and isinstance(key, ast.Constant):
                yield str(key.value), {word.arg or "" for word in call.keywords}
            for word in call.keywords:
                if word.arg == "otherwise" and isinstance(word.value, ast.Constant):
                    yield str(word.value.value), {"cause"}
    for pattern, _, key in complaints._SENTENCES:
        yield key, {"cause", *re.compile(pattern).groupindex}
    yield "act_failed", {"cause"}


def sentences(language: str) -> dict[str, str]:
    told = json.loads((TRANSLATIONS / f"{language}.json").read_text())
    found = {key: each["message"] for key, each in told["exceptions"].items()}
    for part in TRANSLATIONS.glob(f"{language}.*.fragment.json"):
        found |= json.loads(part.read_text())
    return found


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_error_has_its_sentence(language: str) -> None:
    told = sentences(language)
    assert {key for key, _ in said()} - set(told) == set()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_sentence_names_only_what_the_error_brings(language: str) -> None:
    told = sentences(language)
    for key, placeholders in said():
        assert set(re.findall(r"{(\w+)}", told[key])) <= placeholders, key
