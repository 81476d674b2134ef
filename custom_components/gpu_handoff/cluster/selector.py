"""Label selectors, as the API has them and as a person types them."""

from collections.abc import Mapping
from typing import Any


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


def parse(text: str) -> dict[str, Any] | None:
    """Read `key=value,key2` as kubectl's -l does; None for no selector at all."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    rules: list[dict[str, Any]] = []
    for part in parts:
        key, unequal, value = part.partition("!=")
        if unequal:
            rules.append(
                {"key": key.strip(), "operator": "NotIn", "values": [value.strip()]}
            )
            continue
        key, equal, value = part.partition("=")
        if equal:
            values = [value.lstrip("=").strip()]
            rules.append({"key": key.strip(), "operator": "In", "values": values})
        else:
            rules.append({"key": key.strip(), "operator": "Exists"})
    return {"matchExpressions": rules} if rules else None
