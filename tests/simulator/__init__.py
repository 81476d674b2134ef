"""An embedded tower and cluster in pure Python: for the demo and for fast tests."""

from .house import ALICE, BOB, CAROL, GPU_NODE, House, VmPlan, default_house
from .simulator import Simulator

__all__ = [
    "ALICE",
    "BOB",
    "CAROL",
    "GPU_NODE",
    "House",
    "Simulator",
    "VmPlan",
    "default_house",
]
