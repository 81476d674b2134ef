"""What Home Assistant and HACS read of the integration beside its code."""

import ast
import json
from pathlib import Path
import re
from typing import Any

from homeassistant.helpers.service import _SERVICES_SCHEMA
from PIL import Image
import pytest
import yaml

from custom_components.gpu_handoff.handoff.phases import DEADLINES_S, Phase
from custom_components.gpu_handoff.machine_sensor import (
    LAST_RESULT_SENSOR,
    NODE_SENSOR,
    PHASE_SENSOR,
)
from custom_components.gpu_handoff.sensor import CARD_SENSOR

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "custom_components" / "gpu_handoff"
LANGUAGES = ("en", "fr")
ERRORS = {
    "ActFailed",
    "ApiError",
    "HandoffError",
    "HostKeyChanged",
    "LoginRefused",
    "Refused",
    "Unreachable",
    "unreachable",
}
FLOW_ROOMS = ("tower", "cluster", "config_flow.py", "cluster_step.py")
RULES = [
    "action-setup",
    "appropriate-polling",
    "brands",
    "common-modules",
    "config-flow",
    "config-flow-test-coverage",
    "dependency-transparency",
    "docs-actions",
    "docs-conditions",
    "docs-high-level-description",
    "docs-installation-instructions",
    "docs-removal-instructions",
    "docs-triggers",
    "entity-event-setup",
    "entity-unique-id",
    "has-entity-name",
    "runtime-data",
    "test-before-configure",
    "test-before-setup",
    "unique-config-entry",
    "action-exceptions",
    "config-entry-unloading",
    "docs-configuration-parameters",
    "docs-installation-parameters",
    "entity-unavailable",
    "integration-owner",
    "log-when-unavailable",
    "parallel-updates",
    "reauthentication-flow",
    "test-coverage",
    "devices",
    "diagnostics",
    "discovery",
    "discovery-update-info",
    "docs-data-update",
    "docs-examples",
    "docs-known-limitations",
    "docs-supported-devices",
    "docs-supported-functions",
    "docs-troubleshooting",
    "docs-use-cases",
    "dynamic-devices",
    "entity-category",
    "entity-device-class",
    "entity-disabled-by-default",
    "entity-translations",
    "exception-translations",
    "icon-translations",
    "reconfiguration-flow",
    "repair-issues",
    "stale-devices",
    "async-dependency",
    "inject-websession",
    "strict-typing",
]


def load(name: str) -> Any:
    """Read a JSON file of the package."""
    return json.loads((PACKAGE / name).read_text())


def leaves(tree: Any, path: str = "") -> dict[str, str]:
    """Every text of a translation, by its path."""
    if isinstance(tree, str):
        return {path: tree}
    found: dict[str, str] = {}
    for key, value in tree.items():
        found |= leaves(value, f"{path}.{key}")
    return found


def keys_in_code(*rooms: str) -> set[str]:
    """Every key of a sentence that the code names."""
    found: set[str] = set()
    for file in PACKAGE.rglob("*.py"):
        inside = file.relative_to(PACKAGE).parts[0]
        if rooms and inside not in rooms:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and node.args and _names_a_key(node.func):
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.add(first.value)
    return found


def sentences_in_code() -> list[tuple[str, set[str], str]]:
    """Each place that names a sentence and spells out its words: key, words, place."""
    return [
        (node.args[0].value, {str(word.arg) for word in node.keywords}, file.name)
        for file in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and len(node.args) == 1
        and _names_a_key(node.func)
        and isinstance(node.args[0], ast.Constant)
        and all(word.arg for word in node.keywords)
    ]


def _names_a_key(func: ast.expr) -> bool:
    if isinstance(func, ast.Attribute):
        return func.attr == "of" and getattr(func.value, "id", "") == "Reason"
    return isinstance(func, ast.Name) and func.id in ERRORS | {"Reason"}


def test_the_manifest_is_in_hassfests_order() -> None:
    keys = list(load("manifest.json"))
    assert keys == ["domain", "name", *sorted(set(keys) - {"domain", "name"})]


def test_dependencies_are_ranges_with_an_upper_end() -> None:
    for requirement in load("manifest.json")["requirements"]:
        assert ">=" in requirement


def test_hacs_knows_every_key() -> None:
    allowed = {
        "homeassistant",
        "name",
        "render_readme",
        "hacs",
        "country",
        "zip_release",
    }
    assert set(json.loads((ROOT / "hacs.json").read_text())) <= allowed


def test_the_actions_are_described_as_home_assistant_wants_it() -> None:
    _SERVICES_SCHEMA(yaml.safe_load((PACKAGE / "services.yaml").read_text()))


def test_both_languages_say_the_same_things() -> None:
    english, french = (leaves(load(f"translations/{lang}.json")) for lang in LANGUAGES)
    assert english.keys() == french.keys()
    for path, text in english.items():
        placeholders = set(re.findall(r"{(\w+)}", text))
        assert placeholders == set(re.findall(r"{(\w+)}", french[path])), path


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_holds_markup_or_an_address(language: str) -> None:
    for path, text in leaves(load(f"translations/{language}.json")).items():
        assert not re.search(r"https?://", text), path
        assert not re.search(r"<[a-z/]", text), path


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_in_the_code_has_a_sentence(language: str) -> None:
    sentences = load(f"translations/{language}.json")["exceptions"]
    late = {f"late_{phase}" for phase in Phase if phase in DEADLINES_S}
    assert sorted((keys_in_code() | late) - set(sentences)) == []


def test_every_sentence_is_given_all_its_words() -> None:
    sentences = load("translations/en.json")["exceptions"]
    found = sentences_in_code()
    assert len(found) > 50
    for key, words, place in found:
        needed = set(re.findall(r"{(\w+)}", sentences[key]["message"]))
        assert needed <= words, (place, key)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_error_of_the_set_up_has_a_sentence(language: str) -> None:
    translations = load(f"translations/{language}.json")
    errors = translations["config"]["error"]
    assert sorted(keys_in_code(*FLOW_ROOMS) - set(errors)) == []
    for key, sentence in errors.items():
        assert translations["exceptions"][key]["message"] == sentence


def test_every_state_of_an_enum_is_translated() -> None:
    sensors = load("translations/en.json")["entity"]["sensor"]
    for description in (PHASE_SENSOR, LAST_RESULT_SENSOR, NODE_SENSOR, CARD_SENSOR):
        states = sensors[description.translation_key]["state"]
        assert set(states) == set(description.options or ())


def test_every_icon_belongs_to_an_entity_and_every_action_has_one() -> None:
    icons, words = load("icons.json"), load("translations/en.json")
    for platform, entities in icons["entity"].items():
        assert set(entities) == set(words["entity"][platform])
    assert set(icons["services"]) == set(words["services"])


def test_the_quality_scale_is_complete() -> None:
    rules = yaml.safe_load((PACKAGE / "quality_scale.yaml").read_text())["rules"]
    assert sorted(rules) == sorted(RULES)
    for name, rule in rules.items():
        if isinstance(rule, dict):
            assert rule["status"] in ("done", "todo", "exempt"), name
            assert rule["comment"], name
        else:
            assert rule in ("done", "todo"), name


@pytest.mark.parametrize(
    ("name", "size"), [("icon.png", 256), ("icon@2x.png", 512), ("logo.png", 256)]
)
def test_the_brand_has_its_sizes(name: str, size: int) -> None:
    with Image.open(PACKAGE / "brand" / name) as image:
        assert image.height == size
