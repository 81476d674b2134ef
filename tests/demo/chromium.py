"""Headless Chromium with a window of its own, for pictures and for pressing."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
import shutil

from playwright.async_api import Page, async_playwright

# As root there is no sandbox; the rest keeps it from looking for hosts of its maker.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
WINDOW = {"width": 1280, "height": 800}


def executable() -> str | None:
    """Where the machine's own Chromium is."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@asynccontextmanager
async def page(url: str) -> AsyncGenerator[Page]:
    """A fresh browser that shows an address."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable(), args=list(FLAGS)
        )
        context = await browser.new_context(viewport=WINDOW, locale="en-GB")
        try:
            showing = await context.new_page()
            await showing.goto(url)
            yield showing
        finally:
            await browser.close()
