"""The three kinds of patch: JSON patch, merge patch, strategic merge patch."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from . import status

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"

_MERGE_KEYS = {
    "taints": "key",
    "conditions": "type",
    "ownerReferences": "uid",
    "containers": "name",
    "addresses": "type",
}


def apply(kind: str, target: Any, patch: Any) -> Any:
    """Return the patched object; the target stays as it is."""
    if (way := _WAYS.get(kind)) is None:
        raise status.unsupported_patch(kind)
    return way(deepcopy(target), patch)


def _merge(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return deepcopy(patch)
    result = target if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge(result.get(key), value)
    return result


def _strategic(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return deepcopy(patch)
    result = target if isinstance(target, dict) else {}
    for key, value in patch.items():
        if key == "$patch":
            continue
        if value is None:
            result.pop(key, None)
        elif isinstance(value, list) and key in _MERGE_KEYS:
            result[key] = _merge_list(result.get(key) or [], value, _MERGE_KEYS[key])
        else:
            result[key] = _strategic(result.get(key), value)
    return result


def _merge_list(
    target: list[dict[str, Any]], patch: list[dict[str, Any]], merge_key: str
) -> list[dict[str, Any]]:
    if any(item.get("$patch") == "replace" for item in patch):
        return [deepcopy(item) for item in patch if "$patch" not in item]
    result = {item[merge_key]: item for item in target}
    for item in patch:
        if item.get("$patch") == "delete":
            result.pop(item[merge_key], None)
        else:
            result[item[merge_key]] = _strategic(result.get(item[merge_key]), item)
    return list(result.values())


def _json(target: Any, patch: Any) -> Any:
    if not isinstance(patch, list):
        raise status.bad_request("json: cannot unmarshal object into Go value")
    holder = {"": target}
    for step in patch:
        operation = _OPERATIONS.get(step.get("op"))
        if operation is None:
            raise status.bad_request(f"Unexpected kind: {step.get('op')}")
        try:
            operation(holder, step)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            path = step.get("path")
            message = (
                f"{step['op']} operation does not apply: doc is missing key: {path}"
            )
            raise status.patch_rejected(message) from error
    return holder[""]


def _find(holder: Any, pointer: str) -> tuple[Any, Any]:
    """Walk to the last container; return it and the last key."""
    *way, last = [
        part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")
    ]
    node = holder
    for part in way:
        node = node[int(part)] if isinstance(node, list) else node[part]
    return node, last


def _add(holder: Any, step: Mapping[str, Any]) -> None:
    node, last = _find(holder, step["path"])
    if isinstance(node, list):
        node.insert(len(node) if last == "-" else int(last), deepcopy(step["value"]))
    else:
        node[last] = deepcopy(step["value"])


def _remove(holder: Any, step: Mapping[str, Any]) -> None:
    node, last = _find(holder, step["path"])
    del node[int(last) if isinstance(node, list) else last]


def _replace(holder: Any, step: Mapping[str, Any]) -> None:
    node, last = _find(holder, step["path"])
    key = int(last) if isinstance(node, list) else last
    node[key]
    node[key] = deepcopy(step["value"])


def _test(holder: Any, step: Mapping[str, Any]) -> None:
    node, last = _find(holder, step["path"])
    found = node[int(last)] if isinstance(node, list) else node.get(last)
    if found != step.get("value"):
        path = step["path"]
        message = f"testing value {path} failed: test failed"
        raise status.patch_rejected(message)


_OPERATIONS: Mapping[str, Callable[[Any, Mapping[str, Any]], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "test": _test,
}
_WAYS: Mapping[str, Callable[[Any, Any], Any]] = {
    JSON_PATCH: _json,
    MERGE_PATCH: _merge,
    STRATEGIC_PATCH: _strategic,
}
