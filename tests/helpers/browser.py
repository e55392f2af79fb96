"""A real browser, and the service on a port of its own."""

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.helpers.waiting import wait_until

if TYPE_CHECKING:
    from fastapi import FastAPI
    from playwright.sync_api import Browser, Locator, Page

CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
_SWITCHES = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@contextmanager
def open_browser() -> "Iterator[Browser]":
    """Chromium, which waits long for what is expected: machines may be busy."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=_SWITCHES)
        yield browser
        browser.close()


@contextmanager
def serving(app: "FastAPI") -> Iterator[str]:
    """The address of a service that runs in a thread."""
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            wait_until(lambda: server.started or not thread.is_alive())
            assert server.started
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:  # else a test that fails would never end
            server.should_exit = True
            thread.join()


def watch(page: "Page") -> list[str]:
    """The messages of a page on the console, which grow as they come."""
    messages: list[str] = []
    page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: messages.append(f"dialog: {dialog.message}"))
    return messages


def find_barriers(page: "Page") -> list[str]:
    """What axe-core finds wrong with the accessibility of a page, best practices included."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{rule['impact']} {rule['id']}: {node['html']}" for rule in found for node in rule["nodes"]
    ]


# Pairs of words and labels of drawings that overlap.
_OVERLAPS = """() => [...document.querySelectorAll(".capsrl-drawing svg")].flatMap((svg) => {
  const seen = [...svg.querySelectorAll("text")].filter((text) => text.checkVisibility({
    visibilityProperty: true }));
  const boxes = seen.map((text) => [text.textContent, text.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5
    && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  return boxes.flatMap(([a, first], i) =>
    boxes.slice(i + 1).filter(([, second]) => meet(first, second)).map(([b]) => `${a} / ${b}`));
})"""


def find_overlaps(page: "Page") -> list[str]:
    """Pairs of words and labels that overlap in drawings of a page."""
    overlaps: list[str] = page.evaluate(_OVERLAPS)
    return overlaps


def wait_for_width(locator: "Locator", condition: str) -> None:
    """Wait until the width of an element passes a test such as `> 100`."""
    script = f"element => element.getBoundingClientRect().width {condition}"
    locator.page.wait_for_function(script, arg=locator.element_handle())


def scroll_width(page: "Page") -> int:
    """How wide the page is; wider than the window means scrolling sideways."""
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width
