"""The page /docs in a real browser: it loads nothing from elsewhere, and sends requests."""

import shutil

import pytest

from tests.helpers.browser import find_barriers, open_browser, scroll_width
from tests.helpers.serving import running

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_docs(tiny_model, tmp_path):
    asked, messages = [], []
    playwright.expect.set_options(timeout=30_000)  # for busy machines
    with (
        running(tmp_path, "--model", tiny_model, CAPSRL_TOKEN="right") as server,
        playwright.sync_playwright() as driver,
        driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES) as browser,
    ):
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.emulate_media(color_scheme="dark")
        shown = page.goto(f"{server.url}docs")
        assert "default-src 'none'; script-src 'self'" in shown.headers["content-security-policy"]
        for group in ("Labeling", "Operation"):
            playwright.expect(page.locator(f"#operations-tag-{group}")).to_be_visible()
        playwright.expect(page.get_by_text("Label one text or several")).to_be_visible()
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(22, 24, 29)"
        assert page.get_by_role("link", name="Label a text").get_attribute("href") == "./"
        page.get_by_role("button", name="Authorize").click()
        page.get_by_label("auth-bearer-value").fill("right")
        page.get_by_role("button", name="Apply credentials").click()
        page.get_by_role("button", name="Close").first.click()
        page.locator(".opblock-post .opblock-summary-control").click()
        page.get_by_text("Try it out").click()
        page.get_by_role("button", name="Execute").click()
        answer = page.locator(".live-responses-table .response").first
        playwright.expect(answer).to_contain_text('"fingerprint"')
        playwright.expect(answer).to_contain_text("200")
    assert f"{server.url}label?format=json" in asked
    assert {url for url in asked if not url.startswith((server.url, "data:"))} == set()
    assert messages == []


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_docs_in_both_themes(tiny_model, tmp_path):
    """Swagger UI itself has serious barriers; what is left are headings that skip a level."""
    with running(tmp_path, "--model", tiny_model) as server, open_browser() as browser:
        for scheme, width in (("light", 1280), ("dark", 320)):
            page = browser.new_page(
                viewport={"width": width, "height": 900},
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            page.goto(f"{server.url}docs")
            page.locator(".opblock-post .opblock-summary-control").click()
            playwright.expect(page.get_by_text("Media type").first).to_be_visible()
            playwright.expect(page.get_by_label("format")).to_be_visible()
            assert [each for each in find_barriers(page) if not each.startswith("moderate")] == []
            assert scroll_width(page) <= width
            page.close()
