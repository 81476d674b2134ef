"""Label selectors, as the API has them and as a person types them."""

from collections.abc import Mapping
from functools import lru_cache
import re
from typing import Any

from ..handoff.reason import HandoffError

_COMMA = re.compile(r",(?![^(]*\))")
_TERM = re.compile(
    r"""\s*(?:
        !\s*(?P<absent>[\w./-]+)
      | (?P<key>[\w./-]+)
        (?: \s*(?P<sign>==|=|!=)\s*(?P<value>[\w.-]*)
          | \s+(?P<word>in|notin)\s*\((?P<set>[\w.,\s-]*)\) )?
    )\s*""",
    re.VERBOSE,
)
_OPERATORS = {"=": "In", "==": "In", "in": "In", "!=": "NotIn", "notin": "NotIn"}


def matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Tell whether labels fit: an empty selector fits all, a missing one none."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_fits(rule, labels) for rule in selector.get("matchExpressions") or ())


def _fits(rule: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = rule.get("key", ""), rule.get("values") or []
    match rule.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return False


@lru_cache(maxsize=16)
def parse(text: str) -> Mapping[str, Any] | None:
    """Read what kubectl's -l takes; None for no selector at all. Raises HandoffError."""
    if not text.strip():
        return None
    return {"matchExpressions": [_rule(term, text) for term in _COMMA.split(text)]}


def _rule(term: str, text: str) -> dict[str, Any]:
    found = _TERM.fullmatch(term)
    if found is None:
        raise HandoffError("selector_invalid", selector=text)
    if absent := found["absent"]:
        return {"key": absent, "operator": "DoesNotExist"}
    key, how = found["key"], found["sign"] or found["word"]
    if how is None:
        return {"key": key, "operator": "Exists"}
    values = found["value"] if found["sign"] else found["set"]
    return {
        "key": key,
        "operator": _OPERATORS[how],
        "values": [value.strip() for value in values.split(",")],
    }
