"""Every key that the cluster's side may say has its sentence, in both languages."""

import json
from pathlib import Path
import re
from string import Formatter

import pytest

from custom_components.gpu_handoff import cluster

HERE = Path(cluster.__file__).parent
TRANSLATIONS = HERE.parent / "translations"
FAMILIES = (
    "kubeconfig|cluster|certificate|client_certificate|token|node|pod|gpus|selector"
)
KEY = re.compile(rf'"((?:{FAMILIES})_[a-z_]+|not_kubernetes)"')
NO_KEY = {"certificate_error"}


def sentences(language: str) -> dict[str, str]:
    text = (TRANSLATIONS / f"{language}.json").read_text(encoding="utf-8")
    return {
        key: item["message"] for key, item in json.loads(text)["exceptions"].items()
    }


def keys() -> list[str]:
    found = {
        key
        for path in HERE.glob("*.py")
        for key in KEY.findall(path.read_text(encoding="utf-8"))
    }
    return sorted(found - NO_KEY)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_key_has_a_sentence(language: str) -> None:
    assert set(keys()) <= sentences(language).keys()


@pytest.mark.parametrize("key", keys())
def test_both_languages_fill_in_the_same_words(key: str) -> None:
    english, french = sentences("en")[key], sentences("fr")[key]
    assert _words(english) == _words(french)


def _words(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}
