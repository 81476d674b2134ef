"""Our mark says whose cordon it is, and survives damage and later versions."""

import json

import pytest

from custom_components.gpu_handoff.cluster.mark import (
    ANNOTATION,
    cordon_patch,
    read_mark,
    uncordon_patch,
)
from custom_components.gpu_handoff.handoff.world import Mark

MARK = Mark(operation="op-1", vm_id="vm-1", boot_id="boot-1")


def marked(text: str | None) -> dict[str, object]:
    annotations = {} if text is None else {ANNOTATION: text}
    return {"metadata": {"resourceVersion": "7", "annotations": annotations}}


def test_a_mark_comes_back_as_it_was_left() -> None:
    patch = cordon_patch(marked(None), MARK)
    text = patch["metadata"]["annotations"][ANNOTATION]
    assert read_mark(marked(text)) == MARK
    assert json.loads(text)["schedulable_before"] is True


def test_the_patch_cordons_and_marks_at_once_and_only_what_was_read() -> None:
    patch = cordon_patch(marked(None), MARK)
    assert patch["spec"] == {"unschedulable": True}
    assert patch["metadata"]["resourceVersion"] == "7"


def test_a_node_without_annotations_bears_no_mark() -> None:
    assert read_mark(marked(None)) is None
    assert read_mark({"metadata": {}}) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"', '{"operation"'])
def test_a_damaged_mark_is_still_ours(text: str) -> None:
    assert read_mark(marked(text)) == Mark(operation="", vm_id="", boot_id="")


def test_words_of_a_later_version_are_left_alone() -> None:
    text = json.dumps({"operation": "o", "vm_id": "v", "boot_id": "b", "new": [1]})
    assert read_mark(marked(text)) == Mark(operation="o", vm_id="v", boot_id="b")


def test_undoing_takes_away_cordon_and_mark() -> None:
    patch = uncordon_patch(marked("damaged"))
    assert patch["spec"] == {"unschedulable": None}
    assert patch["metadata"]["annotations"] == {ANNOTATION: None}


def test_a_cordon_that_stood_before_ours_stays() -> None:
    assert uncordon_patch(marked('{"schedulable_before": false}'))["spec"] == {}
