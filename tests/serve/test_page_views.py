"""The page at widths of phones and of large screens, in both themes, and by keyboard alone."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from tests.helpers.browser import (
    find_barriers,
    find_overlaps,
    needs_browser,
    open_browser,
    scroll_width,
    serving,
    watch,
)

pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")

from capsrl.serve.app import make_app  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

STORY = "Nora reminded him to water the plants."
MANY = "Yesterday the council did not send the heavy trucks to the coast because of the fog."
SIDE_BY_SIDE, STACKED = 1024, 960  # from this width on, and up to this one

# Numbers of the open table less than 4 pixels apart, and words on more than one line.
_TOUCHING = """() => [...document.querySelectorAll(".detail:not([hidden]) tr")].flatMap((row) => {
  const boxes = [...row.querySelectorAll(".capsrl-text, .capsrl-step span, th > .capsrl-role")]
    .filter((each) => each.textContent).map((each) => each.getBoundingClientRect());
  return boxes.slice(1).filter((box, i) => box.left < boxes[i].right + 4).map(() => row.innerText);
}).concat([...document.querySelectorAll(".detail:not([hidden]) .capsrl-words b")]
  .filter((word) => word.getClientRects().length > 1).map((word) => word.innerText))"""

# Whether the drawing was made for this window: the page asks again for one that is too wide.
_FITS = """() => !document.querySelector("[aria-busy]")
  && [...document.querySelectorAll(".detail:not([hidden]) svg")].every((line) =>
    line.viewBox.baseVal.width <= document.querySelector("#probe > *").clientWidth + 8)"""

# Phrases of the sentence whose role is, even in part, on another line than their last word.
_TORN = """() => [...document.querySelectorAll(".sentence:not([hidden]) [data-role]")]
  .filter((mark) => {
    const last = (each) => [...each.getClientRects()].at(-1);
    const [whole, words] = [last(mark), last(mark.firstElementChild)];
    return Math.abs(whole.bottom - words.bottom) > 10;
  }).map((mark) => mark.dataset.role)"""


@pytest.fixture(scope="module")
def url(labeler) -> Iterator[str]:
    with serving(make_app(labeler)) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with open_browser() as browser:
        yield browser


def open_page(browser: "Browser", url: str, **options) -> "Page":
    width = options.pop("width", 1280)
    viewport = {"width": width, "height": 900}
    return browser.new_page(base_url=url, viewport=viewport, reduced_motion="reduce", **options)


def check_start(page: "Page") -> None:
    """What it is, which model, how to get it, what an iteration is; something is drawn already."""
    playwright.expect(page.get_by_role("heading", level=1)).to_have_text("capsrl English")
    assert "Who did what to whom" in page.locator(".lede").inner_text()
    facts = page.locator(".facts").inner_text()
    assert re.search(r"F1 \d\d\.\d+ on .+ · \d+ MB · license", facts), facts
    assert page.get_by_role("link", name="get it").get_attribute("href") == "#use"
    playwright.expect(page.get_by_text("In each iteration of routing")).to_be_visible()
    kinds = page.locator("#examples small").all_text_contents()
    assert {"News", "Dialogue", "Instruction", "Long"} <= set(kinds)
    for name in ("Python", "curl", "JSON", "Copy", "SVG", "PNG", "Copy link", "Compare"):
        playwright.expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()


def check_proposition(page: "Page") -> None:
    """The colored sentence, chips, drawing and table say the same, in the order of the words."""
    page.wait_for_function(_FITS)
    marks = page.locator(".sentence:visible [data-role]").evaluate_all(
        "all => all.map((each) => each.dataset.role)"
    )
    chips = page.locator(".proposition.open .capsrl-phrase > b").all_text_contents()
    rows = page.locator(".detail:visible tr:not([data-now=p]) .capsrl-role").evaluate_all(
        "all => all.map((each) => each.dataset.role)"
    )
    drawn = page.locator(".detail:visible .capsrl-arc[data-now=n] text").all_text_contents()
    assert marks == chips == rows and sorted(drawn) == sorted(chips) and len(chips) >= 3
    heading = page.locator(".proposition.open h3").inner_text()
    assert re.search(r"\w+\.\d\d\s+VerbNet \S+.*sure: \d+ %", heading), heading
    assert find_overlaps(page) == [] and page.evaluate(_TOUCHING) == []
    assert page.evaluate(_TORN) == []


def check_layout(page: "Page", width: int) -> None:
    """Wide windows have drawing and table side by side and no empty third, narrow ones stack."""
    card, drawing, table = (
        page.locator(each).bounding_box()
        for each in (".proposition.open", ".detail:visible .figure", ".detail:visible table")
    )
    if width >= SIDE_BY_SIDE:
        assert table["x"] >= drawing["x"] + drawing["width"]
        assert card["width"] > min(width, 1400) * 0.9
    if width <= STACKED:
        assert table["y"] >= drawing["y"] + drawing["height"]
    assert card["x"] + card["width"] - (table["x"] + table["width"]) < 40
    assert scroll_width(page) <= width


@needs_browser
@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        *((320, "light"), (1920, "dark")),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                *((320, "dark"), (768, "light"), (768, "dark"), (1280, "light"), (1280, "dark")),
                *((1920, "light"), (2560, "light"), (2560, "dark")),
            )
        ),
    ],
)
def test_every_screen(browser, url, width, scheme):
    page = open_page(browser, url, width=width, color_scheme=scheme)
    messages = watch(page)
    page.goto("/")
    check_start(page)
    check_proposition(page)
    check_layout(page, width)
    page.goto("/#" + urlencode({"text": MANY}))
    playwright.expect(page.locator(".sentence:visible")).to_have_text(MANY)
    check_proposition(page)
    check_layout(page, width)
    page.locator(".detail:visible .capsrl-others summary").click()
    page.locator("#roles summary").click()
    page.get_by_role("button", name="Compare").click()
    playwright.expect(page.locator("#pinned")).to_be_visible()
    assert scroll_width(page) <= width
    assert page.evaluate(_TOUCHING) == []
    assert find_barriers(page) == []
    page.close()
    assert messages == []


@needs_browser
def test_an_answer_that_comes_late_is_shown(browser, url):
    """The drawing of the first example is too wide for a phone: it must not be asked for again."""
    page = open_page(browser, url, width=320)

    def delay(route):
        page.wait_for_timeout(700)  # longer than the page waits for the window to keep its size
        route.continue_()

    page.route("**/page/label*", delay)
    page.goto("/#" + urlencode({"text": MANY}))
    playwright.expect(page.locator(".sentence:visible")).to_have_text(MANY)
    page.close()


@needs_browser
def test_a_pinned_drawing_has_the_width_of_the_screen(browser, url):
    page = open_page(browser, url, width=320)
    view = {"text": STORY, "s": 0, "p": 1, "i": 3}
    page.goto("/#" + urlencode(view | {f"c-{name}": value for name, value in view.items()}))
    drawing = page.locator("#pinned svg").first
    playwright.expect(drawing).to_be_visible()
    assert drawing.bounding_box()["width"] > 0.9 * float(drawing.get_attribute("width"))
    assert page.locator("#pinned th.current").inner_text() == "3"
    page.close()


def tab_to(page: "Page", wanted: "Locator") -> None:
    """Press Tab until an element has the focus, whose ring must be seen."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("each => each === document.activeElement"):
            assert wanted.evaluate("each => getComputedStyle(each).outlineStyle") != "none"
            return
    raise AssertionError(f"no {wanted} within 60 tabs")


@needs_browser
@pytest.mark.parametrize(
    ("width", "scheme"),
    [(1280, "light"), pytest.param(320, "dark", marks=pytest.mark.slow)],
)
def test_by_keyboard_alone(browser, url, width, scheme):
    page = open_page(browser, url, width=width, color_scheme=scheme)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/")
    status = page.get_by_role("status")
    playwright.expect(status).to_have_text("2 predicates in 1 sentence.")

    def press(wanted: "Locator", key: str = "Enter") -> None:
        page.locator("body").evaluate("body => { document.activeElement.blur(); }")
        tab_to(page, wanted)
        page.keyboard.press(key)

    press(page.locator(".sentence:visible a").last)
    chosen = page.locator(".sentence:visible [aria-current]")
    playwright.expect(chosen).to_have_text("water")
    playwright.expect(chosen).to_be_focused()
    press(page.locator(".detail:visible .capsrl-others summary"))
    playwright.expect(page.locator(".detail:visible .capsrl-others dl")).to_be_visible()
    press(page.get_by_role("slider"), "ArrowLeft")
    playwright.expect(page.locator("#iteration-shown")).to_have_text("2 of 3")
    press(page.get_by_role("button", name="Compare"))
    playwright.expect(page.locator("#pinned-name")).to_contain_text("iteration 2 of 3")
    press(page.get_by_role("button", name="Unpin"))
    playwright.expect(page.locator("#pinned")).to_be_hidden()
    press(page.get_by_role("button", name="curl"))
    press(page.get_by_role("button", name="Copy", exact=True))
    playwright.expect(status).to_have_text("Code copied.")
    assert page.evaluate("navigator.clipboard.readText()").startswith("curl ")
    if page.locator("#examples ul").is_hidden():
        press(page.locator("#examples summary"))
    press(page.locator("#examples a", has_text="Passive"))
    playwright.expect(page.locator(".sentence:visible")).to_contain_text("was fed by")
    press(page.get_by_role("link", name="Roles"))
    playwright.expect(page.locator("#roles dl")).to_be_visible()
    page.close()


@needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (1280, "dark")])
def test_note_on_text_in_another_language(browser, url, width, scheme):
    page = open_page(browser, url, width=width, color_scheme=scheme)
    page.goto(
        "/#" + urlencode({"text": "Gestern hat der alte Mann seinen Hund im Garten gesucht."})
    )
    playwright.expect(page.get_by_role("note")).to_contain_text("does not look like English")
    assert find_barriers(page) == [] and scroll_width(page) <= width
    page.get_by_label("English text").fill(STORY)
    page.get_by_role("button", name="Label", exact=True).click()
    playwright.expect(page.get_by_role("note")).to_be_hidden()
    page.close()
