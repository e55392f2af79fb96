"""The page in a real browser, with the shipped model."""

import re
import shutil
import socket
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

import pytest

from capsrl.data.conll09 import format_conll09
from capsrl.data.jsonl import read_jsonl
from capsrl.sentence import Proposition
from tests.helpers.tiny_networks import make_config, make_labeler

uvicorn = pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")

from capsrl.serve.app import STATIC, make_app  # noqa: E402
from capsrl.serve.limits import Limits  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium")
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

STORY = "I consider Omar a friend."  # Omar: A1 after iteration 1, no role after 2
# 64 words, commas, eight predicates; takes many lines on a phone.
LONG = (
    "After the council, which had met in secret for three weeks, finally admitted that the old "
    "bridge near the harbour could no longer carry the heavy trucks that the brewery sends to the "
    "coast every morning, the mayor promised the angry drivers, most of whom had already lost two "
    "days of pay, that the city would build them a new road before the winter."
)


class Server:
    """The service on a free port, in a thread."""

    def __init__(self, app):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/"
        config = uvicorn.Config(app, log_level="error", ws="none")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],))
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            time.sleep(0.05)

    def stop(self):
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()


@pytest.fixture(scope="module")
def url(labeler) -> Iterator[str]:
    server = Server(make_app(labeler, limits=Limits(trace_characters=1000)))
    yield server.url
    server.stop()


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    playwright.expect.set_options(timeout=30_000)  # for busy machines
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(SWITCHES))
        yield browser
        browser.close()


@pytest.fixture
def page(browser, url) -> "Iterator[Page]":
    """The page, freshly opened; messages on the console fail the test."""
    page = browser.new_page(base_url=url, viewport={"width": 1280, "height": 900})
    messages = watch(page)
    page.goto("/")
    yield page
    page.close()
    assert messages == []


def watch(page: "Page") -> list[str]:
    messages: list[str] = []
    page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: messages.append(f"dialog: {dialog.message}"))
    return messages


def label(page: "Page", text: str) -> None:
    page.get_by_label("English text").fill(text)
    page.get_by_role("button", name="Label").click()
    answered(page)


def answered(page: "Page") -> None:
    playwright.expect(page.get_by_role("status")).to_have_text(re.compile("predicate|empty"))


def arcs(page: "Page", state: str) -> list[str]:
    """The labels of the arcs of a state; an arc over two lines has two."""
    return sorted(set(page.locator(f".arc.{state} .role").all_text_contents()))


def labels_of(proposition: Proposition, step: int, state: str = "now") -> list[str]:
    """The labels that these arcs should have, from the library's own trace."""
    trace = proposition.trace
    best = trace.beliefs.argmax(-1)  # N+1 T
    shown = []
    for word in range(best.shape[1]):
        now, past = {int(best[step, word])}, set(best[:step, word].tolist())
        for role in (now if state == "now" else past - now) - {0}:
            shown.append(f"{trace.roles[role]} {trace.beliefs[step, word, role]:.2f}")
    return sorted(set(shown))


def test_no_external_files_and_no_inline_code():
    names = {path.name for path in STATIC.iterdir()}
    assert {"index.html", "app.js", "style.css"} <= names
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.[a-z]", text), path.name
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(", text), path
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<[^>]*\son\w+=|<[^>]*\sstyle=|<script(?![^>]*\ssrc=)|<style", page)


def test_roles_of_the_examples_change(labeler):
    page = (STATIC / "index.html").read_text(encoding="utf-8").replace("&amp;", "&")
    examples = re.findall(r'<li><a href="#([^"]+)">([^<]+)</a>', page)
    assert len(examples) >= 5
    for address, shown in examples:
        place = {name: values[0] for name, values in parse_qs(address).items()}
        assert place["text"] == shown
        (sentence,) = labeler.label(shown, trace=True)
        (proposition,) = [p for p in sentence.propositions if p.predicate == int(place["p"])]
        best = proposition.trace.beliefs.argmax(-1)
        assert (best[int(place["i"])] != best[-1]).any(), shown


@needs_browser
def test_label_and_choose_a_predicate(page, labeler):
    text = (
        "An injury prevented Hiti from signing the contract. 🎉 Oslo, at noon! Ana's “dog” barked."
    )
    label(page, text)
    sentences = labeler.label(text, trace=True)
    items = page.locator("#sentences > li")
    assert items.count() == len(sentences)
    for number, sentence in enumerate(sentences):
        buttons = items.nth(number).locator("button.predicate")
        assert buttons.all_text_contents() == [sentence.words[p] for p in sentence.predicates]
        assert items.nth(number).locator("p").first.text_content() == sentence.standalone().text
    proposition = sentences[0].propositions[-1]
    button = page.get_by_role("button", name="signing")
    button.click()
    playwright.expect(button).to_have_attribute("aria-pressed", "true")
    assert page.locator("[aria-pressed=true]").count() == 1
    title = f"signing: {proposition.sense} {proposition.probability:.2f}"
    assert page.get_by_role("heading", level=3).text_content() == title
    assert page.locator("#meaning").text_content() == "; ".join(
        f"{a.role} {a.form}: {a.meaning}" for a in proposition.arguments
    )
    last = len(proposition.trace.beliefs) - 1
    assert arcs(page, "now") == labels_of(proposition, last)


@needs_browser
def test_slider(page, labeler):
    label(page, STORY)
    page.get_by_label("Iterations").select_option("4")
    slider = page.get_by_label("Iteration", exact=True)
    playwright.expect(slider).to_have_attribute("max", "4")
    (sentence,) = labeler.label(STORY, trace=True, iterations=4)
    (proposition,) = sentence.propositions
    trace = proposition.trace
    for step in (4, 0, 1, 2, 3):
        slider.fill(str(step))
        assert arcs(page, "now") == labels_of(proposition, step)
        assert arcs(page, "past") == labels_of(proposition, step, "past")
        row = page.locator("#heat tr", has=page.get_by_role("rowheader", name="Omar"))
        columns = page.locator("#heat thead th").all_text_contents()[1:]
        wanted = [trace.beliefs[step, 2, trace.roles.index(r)] for r in columns[:-1]]
        wanted += [trace.beliefs[step, 2, 0]]
        assert row.locator("td").all_text_contents() == [f"{prob:.2f}" for prob in wanted]
    slider.fill("1")
    assert "“Omar” and “friend” share A1." in page.locator("#story").text_content()
    slider.fill("2")
    assert "“Omar” loses A1." in page.locator("#story").text_content()


@needs_browser
def test_play(page):
    label(page, STORY)
    page.get_by_role("button", name="Play").click()
    shown = page.locator("#iteration-shown")
    for step in ("0 of 3", "1 of 3", "2 of 3", "3 of 3"):
        playwright.expect(shown).to_have_text(step)
    playwright.expect(page.get_by_role("button", name="Play")).to_be_visible()


@needs_browser
def test_downloads_equal_files_of_the_library(page, labeler, tmp_path):
    text = f"{STORY} Oslo, at noon! “Ana”\u00a0sang 🎉 and left."
    label(page, text)
    sentences = [sentence.standalone() for sentence in labeler.label(text, trace=True)]
    read = list(read_jsonl(saved(page, "Download JSON", "capsrl.jsonl", tmp_path).splitlines()))
    assert [sentence.to_json() for sentence in read] == [s.to_json() for s in sentences]
    rows = saved(page, "Download CoNLL-2009", "capsrl.conll09", tmp_path)
    assert rows == "".join(format_conll09(sentence) for sentence in sentences)


@needs_browser
def test_downloaded_drawing(page, labeler, tmp_path):
    label(page, STORY)
    drawn = {}
    for step in ("1", "2"):
        page.get_by_label("Iteration", exact=True).fill(step)
        tree = ET.fromstring(saved(page, "Download SVG", "capsrl-consider.01.svg", tmp_path))
        assert {e.get("class") or e.get("style") for e in tree.iter()} == {"drawing", None}
        drawn[step] = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert [word for word in drawn["1"] if word in STORY] == STORY[:-1].split() + ["."]
    assert len([label for label in drawn["1"] if label.startswith("A1 ")]) == 2
    (sentence,) = labeler.label(STORY, trace=True)
    (ghost,) = labels_of(sentence.propositions[0], 2, "past")
    assert ghost in drawn["2"] and ghost not in drawn["1"]


def saved(page: "Page", button: str, name: str, folder: Path) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    assert download.value.suggested_filename == name
    download.value.save_as(folder / name)
    return (folder / name).read_bytes().decode()


@needs_browser
def test_errors_are_shown_and_cleared(browser, url):
    page = browser.new_page(base_url=url)
    page.goto("/")
    page.get_by_label("English text").fill("Birds sing. " * 100)
    page.get_by_role("button", name="Label").click()
    error = page.get_by_role("alert")
    playwright.expect(error).to_contain_text("expected at most 1,000 characters with a trace")
    playwright.expect(error).to_contain_text("got 1,200")
    label(page, STORY)
    playwright.expect(error).to_be_hidden()
    page.context.set_offline(True)
    page.get_by_role("button", name="Label").click()
    playwright.expect(error).to_contain_text("The server does not respond")
    page.close()


@needs_browser
def test_keyboard(page):
    page.get_by_label("English text").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("Dogs bark and cats sleep.")
    page.keyboard.press("Control+Enter")
    answered(page)
    focused = page.locator(":focus")
    for name in ("Label", "", "bark", "sleep"):  # the second is the number of iterations
        page.keyboard.press("Tab")
        assert focused.evaluate("e => e.tagName === 'BUTTON' ? e.textContent : ''") == name
    page.keyboard.press("Enter")
    assert page.get_by_role("heading", level=3).text_content().startswith("sleep: sleep.01")
    for _ in range(2):  # past the drawing, which can be scrolled
        page.keyboard.press("Tab")
    assert focused.get_attribute("id") == "iteration"
    page.keyboard.press("ArrowLeft")
    assert page.locator("#iteration-shown").text_content() == "2 of 3"
    assert focused.get_attribute("aria-valuetext") == "2 of 3"
    page.keyboard.press("Home")
    assert arcs(page, "now") == []


@needs_browser
def test_address_restores_the_view(page):
    text = f"Birds sing. {STORY}"
    page.goto("/#" + urlencode({"text": text, "n": 4, "s": 1, "p": 1, "i": 1}))
    answered(page)
    view, title = page.locator("#view"), page.get_by_role("heading", level=3)
    playwright.expect(title).to_contain_text("consider: consider.01")
    assert "1 of 4" in view.inner_text()
    assert page.get_by_label("English text").input_value() == text
    page.get_by_label("Iteration", exact=True).fill("2")
    page.wait_for_url(re.compile("i=2"))
    seen, address = view.inner_text(), page.url
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    playwright.expect(page.get_by_role("status")).to_have_text("Link copied.")
    assert page.evaluate("navigator.clipboard.readText()") == address
    page.get_by_role("link", name="lost his keys").click()
    playwright.expect(title).to_contain_text("lost: lose")
    assert "1 of 3" in view.inner_text()
    page.goto(address)
    playwright.expect(title).to_contain_text("consider: consider.01")
    assert "2 of 4" in seen and view.inner_text() == seen


@needs_browser
@pytest.mark.parametrize("address", ["#text=Hm.&p=7&i=99&s=-1", "#text=", "#p=1", "#%%%&text=%FF"])
def test_wrong_addresses(page, address):
    page.goto("/" + address)
    page.reload()
    label(page, STORY)
    assert page.locator("#iteration-shown").text_content() == "3 of 3"


@needs_browser
def test_no_predicates_and_no_words(page):
    label(page, "Oslo, at noon!")
    assert "No predicates found" in page.get_by_role("status").text_content()
    assert page.locator("#view").count() == 0
    page.get_by_label("English text").fill("   ")
    page.get_by_role("button", name="Label").click()
    playwright.expect(page.get_by_role("status")).to_have_text("The text is empty.")
    assert page.locator("#sentences > li").count() == 0


@needs_browser
def test_markup_is_not_interpreted(page, tmp_path):
    hostile = "<img src=x onerror=alert(1)> says </text><script>alert(2)</script> & leaves \x01."
    label(page, hostile)
    assert page.locator("main img, main script").count() == 0
    assert "<img" in "".join(page.locator(".drawing .word").all_text_contents())
    name = page.evaluate("document.querySelector('[aria-pressed=true]').title")
    assert ET.fromstring(saved(page, "Download SVG", f"capsrl-{name}.svg", tmp_path)) is not None


@needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (390, "light"), (1280, "light")])
def test_long_sentences_fit_the_screen(browser, url, width, scheme):
    size = {"width": width, "height": 800}
    page = browser.new_page(base_url=url, viewport=size, color_scheme=scheme)
    messages = watch(page)
    page.goto("/#" + urlencode({"text": LONG}))
    answered(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for button in page.locator("button.predicate").all():
        button.click()
        assert page.evaluate("document.querySelector('#arcs').scrollWidth") <= width
        assert page.evaluate(OVERLAPS) == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"dark": "rgb(14, 16, 20)", "light": "rgb(246, 247, 249)"}[scheme]
    page.close()
    assert messages == []


# Pairs of words and labels of the drawing that overlap.
OVERLAPS = """() => {
  const texts = [...document.querySelectorAll(".drawing text")];
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5
    && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  return boxes.flatMap(([a, first], i) =>
    boxes.slice(i + 1).filter(([, second]) => meet(first, second)).map(([b]) => `${a} / ${b}`));
}"""


@needs_browser
def test_token(browser, labeler):
    server = Server(make_app(labeler, token="open sesame"))
    page = browser.new_page(base_url=server.url)
    page.goto("/")
    token = page.get_by_label("Access token")
    playwright.expect(token).to_be_hidden()
    page.get_by_role("button", name="Label").click()
    playwright.expect(page.get_by_role("alert")).to_contain_text("expected Bearer and the token")
    token.fill("open sesame")
    page.get_by_role("button", name="Label").click()
    answered(page)
    playwright.expect(token).to_be_hidden()
    page.close()
    server.stop()


@needs_browser
def test_phrases(browser):
    labeler = make_labeler(make_config(span_width=4))
    text = "the old man saw the dog"
    (sentence,) = labeler.label(text, trace=True)
    proposition = max(sentence.propositions, key=lambda each: len(each.arguments))
    phrases = [
        f"{argument.role}: {argument.phrase.text}"
        for argument in proposition.arguments
        if argument.phrase.first < argument.phrase.last
    ]
    assert phrases
    server = Server(make_app(labeler, limits=Limits(trace_characters=1000)))
    try:
        page = browser.new_page(base_url=server.url)
        page.goto("/")
        label(page, text)
        playwright.expect(page.locator("#phrases")).to_have_text("; ".join(phrases))
        page.close()
    finally:
        server.stop()
