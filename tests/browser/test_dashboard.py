"""Somebody presses Alice's switch and looks at the dashboard.

Pictures are kept in .cache/browser; with UPDATE_PICTURES=1 the README's is made anew.
"""

import json
import os
from pathlib import Path
import re

from playwright.async_api import Locator, Page, expect
import pytest

from tests.demo.checks import boot_id, wrong_after_return, wrong_while_playing
from tests.demo.tower import Tower

REPOSITORY = Path(__file__).parents[2]
PICTURES = REPOSITORY / ".cache" / "browser"
OF_THE_README = REPOSITORY / "docs" / "images" / "dashboard.png"
WORDS = REPOSITORY / "custom_components" / "gpu_handoff" / "translations" / "en.json"
LOAD_MS = 120_000
PHASE_MS = 60_000


async def test_alices_switch_hands_her_card_over_and_back(
    dashboard: Page, tower: Tower
) -> None:
    before = boot_id(await tower.node())
    switch = _switch(dashboard, "Alice")
    happening = _happening(dashboard, "Alice")
    her_card = _tile(dashboard, "Cards", "Alice")

    await expect(switch).to_have_attribute("aria-checked", "false", timeout=LOAD_MS)
    await expect(happening).to_contain_text(_words("phase", "idle"), timeout=LOAD_MS)
    await expect(her_card).to_contain_text(_words("holder", "lent"))
    await _picture(dashboard, "1-lent")

    await switch.click()
    await expect(happening).to_contain_text(
        _words("phase", "draining"), timeout=PHASE_MS
    )
    await expect(switch).to_have_attribute("aria-checked", "true")
    await expect(her_card).to_contain_text(_words("holder", "moving"))
    await expect(_tile(dashboard, "Cluster", "gpu-node")).to_contain_text(
        _words("node", "draining")
    )
    await expect(happening).to_contain_text("photo-search")
    await _picture(dashboard, "2-draining")
    if os.environ.get("UPDATE_PICTURES"):
        await dashboard.screenshot(path=OF_THE_README)

    await expect(her_card).to_contain_text(
        _words("holder", "playing"), timeout=PHASE_MS
    )
    await expect(happening).to_contain_text(_words("phase", "idle"), timeout=PHASE_MS)
    await expect(switch).to_have_attribute("aria-checked", "true")
    await expect(_tile(dashboard, "How it ended last", "Alice")).to_contain_text(
        _words("last_result", "done")
    )
    await _picture(dashboard, "3-playing")
    assert await wrong_while_playing(tower) == []

    await switch.click()
    await expect(happening).to_contain_text(
        _words("phase", "waiting_for_node"), timeout=PHASE_MS
    )
    await expect(switch).to_have_attribute("aria-checked", "false")
    await _picture(dashboard, "4-coming-back")

    await expect(her_card).to_contain_text(_words("holder", "lent"), timeout=PHASE_MS)
    await expect(happening).to_contain_text(_words("phase", "idle"), timeout=PHASE_MS)
    await _picture(dashboard, "5-back")
    assert await wrong_after_return(tower, before) == []


def _section(page: Page, heading: str) -> Locator:
    return page.locator("hui-grid-section").filter(has_text=heading)


def _tile(page: Page, heading: str, name: str) -> Locator:
    return _section(page, heading).locator("hui-tile-card").filter(has_text=name)


def _switch(page: Page, name: str) -> Locator:
    return _tile(page, "Who plays", name).get_by_role("switch")


def _happening(page: Page, name: str) -> Locator:
    section = _section(page, "What is happening")
    return section.locator("hui-markdown-card").filter(has_text=name)


def _words(key: str, state: str) -> re.Pattern[str]:
    """A sensor's state as English readers see it."""
    if not WORDS.exists():
        pytest.fail(f"{WORDS} is missing")
    states = json.loads(WORDS.read_text())["entity"]["sensor"][key]["state"]
    return re.compile(re.escape(states[state]))


async def _picture(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=PICTURES / f"{name}.png")
