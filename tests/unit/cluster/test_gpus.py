"""Cards are counted from what pods can get, and a shortfall has its own sentence."""

from typing import Any

import pytest

from custom_components.gpu_handoff.cluster.gpus import count_gpus

EXPECTED = 3


def lender(
    capacity: dict[str, str], allocatable: dict[str, str], **labels: str
) -> dict[str, Any]:
    """A node of three cards."""
    rest = {"cpu": "16", "memory": "32Gi", "pods": "110"}
    return {
        "metadata": {
            "name": "lender",
            "labels": {
                f"nvidia.com/{k.replace('_', '.')}": v for k, v in labels.items()
            },
        },
        "status": {
            "capacity": {**rest, **capacity},
            "allocatable": {**rest, **allocatable},
        },
    }


def gpu(count: str) -> dict[str, str]:
    """An amount of cards."""
    return {"nvidia.com/gpu": count}


def test_allocatable_counts_and_capacity_does_not() -> None:
    cards, why = count_gpus(lender(gpu("3"), gpu("2")), EXPECTED)
    assert cards == 2
    assert why is not None
    assert why.key == "gpus_unhealthy"
    assert why.placeholders["unhealthy"] == "1"


def test_a_plugin_that_reports_none_is_told_from_one_that_never_came() -> None:
    cards, why = count_gpus(lender(gpu("0"), gpu("0")), EXPECTED)
    assert cards == 0
    assert why is not None
    assert why.key == "gpus_none"


def test_a_plugin_that_never_came_gives_no_number() -> None:
    cards, why = count_gpus(lender({}, {}), EXPECTED)
    assert cards is None
    assert why is not None
    assert why.key == "gpus_not_registered"


def test_a_lost_plugin_leaves_its_capacity_behind() -> None:
    cards, why = count_gpus(lender(gpu("3"), gpu("0")), EXPECTED)
    assert cards == 0
    assert why is not None
    assert why.key == "gpus_none"


def test_fewer_cards_than_expected_with_none_unhealthy() -> None:
    cards, why = count_gpus(lender(gpu("2"), gpu("2")), EXPECTED)
    assert cards == 2
    assert why is not None
    assert why.key == "gpus_too_few"


def test_time_slicing_does_not_multiply_cards() -> None:
    labels = {"gpu_count": "3", "gpu_replicas": "4", "mig_strategy": "none"}
    assert count_gpus(lender(gpu("12"), gpu("12"), **labels), EXPECTED) == (3, None)


def test_a_renamed_resource_counts_too() -> None:
    labels = {"gpu_count": "3", "gpu_replicas": "4", "mig_strategy": "none"}
    amounts = {"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "12"}
    assert count_gpus(lender(amounts, amounts, **labels), EXPECTED) == (3, None)


def test_four_slots_of_one_card_are_one_card() -> None:
    labels = {"gpu_count": "1", "gpu_replicas": "4", "mig_strategy": "none"}
    cards, why = count_gpus(lender(gpu("4"), gpu("4"), **labels), EXPECTED)
    assert cards == 1
    assert why is not None
    assert why.key == "gpus_too_few"


def test_the_told_count_helps_where_replicas_are_not_told() -> None:
    cards, _ = count_gpus(lender(gpu("4"), gpu("4"), gpu_count="1"), EXPECTED)
    assert cards == 1


def test_a_count_that_mig_has_changed_is_not_believed() -> None:
    labels = {"gpu_count": "1", "mig_strategy": "single"}
    assert count_gpus(lender(gpu("3"), gpu("3"), **labels), EXPECTED) == (3, None)


def test_mig_slices_are_no_cards() -> None:
    slices = {"nvidia.com/mig-1g.5gb": "7"}
    assert count_gpus(lender(slices, slices), EXPECTED)[0] is None


@pytest.mark.parametrize("junk", ["", "two", "-1"])
def test_an_amount_that_is_no_number_is_no_amount(junk: str) -> None:
    assert count_gpus(lender(gpu(junk), gpu(junk)), EXPECTED)[0] is None


@pytest.mark.parametrize("replicas", ["0", "", "many"])
def test_replicas_that_make_no_sense_are_one(replicas: str) -> None:
    node = lender(gpu("3"), gpu("3"), gpu_replicas=replicas)
    assert count_gpus(node, EXPECTED) == (3, None)


def test_a_node_without_a_status_has_no_cards() -> None:
    assert count_gpus({"metadata": {"name": "new"}}, EXPECTED)[0] is None
