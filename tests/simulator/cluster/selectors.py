"""Field and label selectors, as query text and as an object's own selector."""

from collections.abc import Callable, Mapping
import re
from typing import Any

type Object = dict[str, Any]

_SET_BASED = re.compile(r"(\S+)\s+(in|notin)\s+\(([^)]*)\)")
_SEPARATOR = re.compile(r",(?![^(]*\))")


def field_test(text: str) -> Callable[[Object], bool]:
    """Read `spec.nodeName=gpu1,metadata.name!=x`."""
    tests = [_field(part) for part in text.split(",") if part]
    return lambda item: all(test(item) for test in tests)


def label_test(text: str) -> Callable[[Mapping[str, str]], bool]:
    """Read `a=b,c!=d,e in (f,g),h,!i`."""
    tests = [_label(part.strip()) for part in _SEPARATOR.split(text) if part.strip()]
    return lambda labels: all(test(labels) for test in tests)


def matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """A LabelSelector: empty matches everything, a missing one nothing."""
    if selector is None:
        return False
    wanted = (selector.get("matchLabels") or {}).items()
    if any(labels.get(key) != value for key, value in wanted):
        return False
    expressions = selector.get("matchExpressions") or ()
    return all(_expression(item, labels) for item in expressions)


def _field(part: str) -> Callable[[Object], bool]:
    path, sign, value = re.split(r"(==|!=|=)", part, maxsplit=1)
    keys = path.split(".")

    def test(item: Any) -> bool:
        for key in keys:
            item = (item or {}).get(key)
        return ((item or "") == value) is (sign != "!=")

    return test


def _label(part: str) -> Callable[[Mapping[str, str]], bool]:
    if found := _SET_BASED.fullmatch(part):
        key, operator, values = found.groups()
        words = [value.strip() for value in values.split(",")]
        name = "In" if operator == "in" else "NotIn"
        expression = {"key": key, "operator": name, "values": words}
        return lambda labels: _expression(expression, labels)
    if part.startswith("!"):
        return lambda labels: part[1:] not in labels
    if "=" not in part:
        return lambda labels: part in labels
    key, sign, value = re.split(r"(==|!=|=)", part, maxsplit=1)
    return lambda labels: (labels.get(key) == value) is (sign != "!=")


def _expression(item: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = item["key"], item.get("values") or ()
    answers = {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return answers[item["operator"]]
