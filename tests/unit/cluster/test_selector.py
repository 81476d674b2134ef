"""Label selectors match as in Kubernetes, and are read as kubectl reads them."""

import pytest

from custom_components.gpu_handoff.cluster.selector import matches, parse
from custom_components.gpu_handoff.handoff.reason import HandoffError

LABELS = {"app": "web", "tier": "front", "example.net/keep": ""}


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("app=web", True),
        ("app==web", True),
        ("app = web , tier=front", True),
        ("app=web,tier=back", False),
        ("app!=web", False),
        ("other!=web", True),
        ("app in (db, web)", True),
        ("app in (db)", False),
        ("app notin (db,web)", False),
        ("other notin (x)", True),
        ("app", True),
        ("other", False),
        ("!other", True),
        ("!app", False),
        ("example.net/keep", True),
        ("example.net/keep=", True),
        ("inside", False),
    ],
)
def test_a_typed_selector(text: str, fits: bool) -> None:
    assert matches(parse(text), LABELS) is fits


@pytest.mark.parametrize("text", ["", "  "])
def test_no_selector_fits_nothing(text: str) -> None:
    assert not matches(parse(text), LABELS)


@pytest.mark.parametrize(
    "text", ["app in web", "a b", "=web", "app=web,", "a in (b", "&"]
)
def test_a_typing_error_is_a_sentence(text: str) -> None:
    with pytest.raises(HandoffError, match="selector_invalid"):
        parse(text)


def test_an_empty_selector_fits_all_and_a_missing_one_none() -> None:
    assert matches({}, LABELS)
    assert not matches(None, LABELS)


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["web"], True),
        ("NotIn", ["web"], False),
        ("Exists", None, True),
        ("DoesNotExist", None, False),
        ("Almost", ["web"], False),
    ],
)
def test_match_expressions(operator: str, values: list[str] | None, fits: bool) -> None:
    rule = {"key": "app", "operator": operator, "values": values}
    assert matches({"matchExpressions": [rule]}, LABELS) is fits


def test_labels_and_expressions_must_both_fit() -> None:
    rule = {"key": "app", "operator": "Exists"}
    selector = {"matchLabels": {"tier": "back"}, "matchExpressions": [rule]}
    assert not matches(selector, LABELS)
