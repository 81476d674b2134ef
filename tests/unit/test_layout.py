"""The rooms of the house: who may import whom, and what nobody may ever say or do."""

import ast
from collections.abc import Iterator
from pathlib import Path
import re
import subprocess
import sys

import pytest

REPOSITORY = Path(__file__).parents[2]
PRODUCT = REPOSITORY / "custom_components" / "gpu_handoff"
PACKAGE = "custom_components.gpu_handoff"
ROOMS = ("handoff", "tower", "cluster", "doctor")
PLATFORMS = frozenset(
    {
        "binary_sensor",
        "button",
        "event",
        "image",
        "sensor",
        "switch",
    }
)
# Who connects the rooms to Home Assistant: everything else sees the coordinator's state.
WIRING = frozenset({"__init__", "cluster_step", "config_flow", "connections"})
DOORS = frozenset({"reason", "world", "ports"})
SCRIPTS = [
    *sorted((REPOSITORY / "script").iterdir()),
    *sorted((REPOSITORY / "tests").rglob("*.sh")),
    REPOSITORY / ".ci" / "run",
]


def _files(room: str = "") -> list[Path]:
    folder = PRODUCT / room
    files = folder.rglob("*.py") if room else folder.glob("*.py")
    return sorted(files)


def _imports(file: Path) -> Iterator[str]:
    """Everything that a file imports, by its full name, lazy imports too."""
    parents = file.relative_to(REPOSITORY).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            near = parents[: len(parents) - node.level + 1] if node.level else ()
            base = ".".join((*near, *filter(None, [node.module])))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _of_ours(name: str) -> tuple[str, ...]:
    """`tower.ssh.Connection` of our package as its parts; empty for others' packages."""
    prefix = f"{PACKAGE}."
    return tuple(name.removeprefix(prefix).split(".")) if prefix in name else ()


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize("file", _files("handoff"), ids=lambda f: f.stem)
def test_the_heart_imports_only_itself_and_the_standard_library(file: Path) -> None:
    strangers = [
        name
        for name in _imports(file)
        if not _is_standard(name) and _of_ours(name)[:1] != ("handoff",)
    ]
    assert strangers == []


@pytest.mark.parametrize("room", ["tower", "cluster"])
def test_a_room_sees_of_the_heart_only_its_doors(room: str) -> None:
    strangers = [
        f"{file.stem}: {name}"
        for file in _files(room)
        for name in _imports(file)
        if (ours := _of_ours(name))
        and ours[0] != room
        and not (ours[0] == "handoff" and ours[1] in DOORS)
    ]
    assert strangers == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_knows_home_assistant(room: str) -> None:
    strangers = [
        f"{file.stem}: {name}"
        for file in _files(room)
        for name in _imports(file)
        if name.partition(".")[0] in ("homeassistant", "probatio", "voluptuous")
    ]
    assert strangers == []


def test_nothing_imports_a_platform() -> None:
    guilty = [
        f"{file.relative_to(PRODUCT)}: {name}"
        for file in PRODUCT.rglob("*.py")
        for name in _imports(file)
        if _of_ours(name)[:1] and _of_ours(name)[0] in PLATFORMS
    ]
    assert guilty == []


def test_only_the_wiring_and_the_coordinator_reach_into_tower_and_cluster() -> None:
    allowed = WIRING | {"coordinator", "flow_forms", "removal"}
    guilty = [
        f"{file.stem}: {name}"
        for file in _files()
        if file.stem not in allowed
        for name in _imports(file)
        if _of_ours(name)[:1] in [("tower",), ("cluster",)]
    ]
    assert guilty == []


def test_the_cluster_library_is_never_imported_with_the_integration() -> None:
    eager = [
        f"{file.relative_to(PRODUCT)}: line {node.lineno}"
        for file in PRODUCT.rglob("*.py")
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and "kubernetes_asyncio" in ast.unparse(node)
    ]
    assert eager == []


FATAL = re.compile(
    r"\bvirsh\b[^#\n]*\b(destroy|reset|undefine)\b|--graceful\b|managedsave-remove"
)
# Libvirt's own words in XML and in events, which are read and never said.
HARMLESS = re.compile(r"on_(poweroff|crash|reboot)|<destroy>|reset_boot_id")


def test_nothing_that_is_said_to_a_host_kills_a_machine() -> None:
    """Killing a machine in mid-boot can leave a card in a state only a reboot clears."""
    words = {
        (file.name, literal)
        for file in PRODUCT.rglob("*.py")
        for literal in _literals(file)
        if FATAL.search(literal) and not HARMLESS.search(literal)
    }
    assert words == set()


def test_no_command_of_the_table_is_fatal() -> None:
    """Every word of every script that the product can send, as it goes over the wire."""
    from custom_components.gpu_handoff.tower.commands import VERBS  # noqa: PLC0415

    spoken = " ".join(verb.script for verb in VERBS.values())
    assert not re.search(r"\b(destroy|reset|undefine|reboot|qemu-monitor)\b", spoken)


def _literals(file: Path) -> Iterator[str]:
    """Every string of a file that is not a docstring."""
    tree = ast.parse(file.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        )
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            yield node.value


@pytest.mark.parametrize("file", sorted(PRODUCT.rglob("*.py")), ids=lambda f: f.stem)
def test_every_file_opens_with_a_sentence(file: Path) -> None:
    sentence = ast.get_docstring(ast.parse(file.read_text())) or ""
    assert sentence.split("\n")[0].endswith((".", "?"))


VAGUE = frozenset({"utils", "util", "helpers", "helper", "manager", "handler", "misc"})


def test_no_name_says_nothing() -> None:
    parts = {
        part for f in PRODUCT.rglob("*.py") for part in re.split(r"[_/.]", str(f.stem))
    }
    assert parts & VAGUE == set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda f: f.name)
def test_every_shell_script_parses(script: Path) -> None:
    checked = subprocess.run(
        ["bash", "-n", script], check=False, capture_output=True, text=True
    )
    assert checked.stderr == ""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda f: f.name)
def test_every_shell_script_stops_at_its_first_error(script: Path) -> None:
    assert "set -euo pipefail" in script.read_text()


@pytest.mark.parametrize(
    "script", sorted((REPOSITORY / "script").iterdir()), ids=lambda f: f.name
)
def test_every_command_explains_itself(script: Path) -> None:
    told = subprocess.run(
        [script, "--help"], check=False, capture_output=True, text=True
    )
    assert told.returncode == 0
    assert f"script/{script.name}" in told.stdout


@pytest.mark.parametrize("file", ["dev.in", "dev.txt"])
def test_requirements_hold_no_address(file: str) -> None:
    assert "://" not in (REPOSITORY / "requirements" / file).read_text()


def test_requirements_are_exact_and_hashed() -> None:
    text = (REPOSITORY / "requirements" / "dev.txt").read_text()
    joined = text.replace("\\\n", " ")
    loose = [
        line
        for line in joined.splitlines()
        if line.strip()
        and not line.startswith("#")
        and not ("==" in line and "--hash=sha256:" in line)
    ]
    assert loose == []


def test_the_deadlines_in_the_documentation_are_the_real_ones() -> None:
    from custom_components.gpu_handoff.handoff.phases import (  # noqa: PLC0415
        DEADLINES_S,
    )

    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    told = dict(re.findall(r"^\| (\w+) \|[^|]*\| (\d+) \|", text, re.MULTILINE))
    assert told == {phase.value: f"{s:g}" for phase, s in DEADLINES_S.items()}
