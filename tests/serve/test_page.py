"""The page in a real browser, with the shipped model, and the routes behind it."""

import asyncio
import json
import re
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from capsrl import __version__
from capsrl.formats.conll09 import format_conll09
from capsrl.formats.jsonl import read_jsonl
from capsrl.predict.card import Card, read_examples
from capsrl.sentence import Proposition
from capsrl.show.colors import role_color, role_meaning
from capsrl.show.formatting import role_histories, show_percent
from tests.helpers.browser import (
    find_barriers,
    find_overlaps,
    needs_browser,
    open_browser,
    scroll_width,
    serving,
    wait_for_width,
    watch,
)
from tests.helpers.serving import client_of

pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")

from capsrl.serve.app import make_app  # noqa: E402
from capsrl.serve.page import STATIC  # noqa: E402
from capsrl.serve.requests import Limits  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STORY = "Nora reminded him to water the plants."
# 64 words, commas, eight predicates; takes many lines on a phone.
LONG = (
    "After the council, which had met in secret for three weeks, finally admitted that the old "
    "bridge near the harbour could no longer carry the heavy trucks that the brewery sends to the "
    "coast every morning, the mayor promised the angry drivers, most of whom had already lost two "
    "days of pay, that the city would build them a new road before the winter."
)
BUILD = LONG.replace(",", " ,").split().index("build")
HOSTILE = "<img src=x onerror=alert(1)> says </text><script>alert(2)</script> & leaves \x01."


@pytest.fixture(scope="module")
def url(labeler) -> Iterator[str]:
    with serving(make_app(labeler, limits=Limits(trace_characters=1000))) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with open_browser() as browser:
        yield browser


@pytest.fixture
def page(browser, url) -> "Iterator[Page]":
    """The page, opened without motion; messages on the console fail the test."""
    page = browser.new_page(
        base_url=url, viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    messages = watch(page)
    page.goto("/")
    answered(page)
    yield page
    page.close()
    assert messages == []


def label(page: "Page", text: str) -> None:
    page.get_by_label("English text").fill(text)
    with page.expect_response("**/page/label*"):  # else the status may be that of the text before
        page.get_by_role("button", name="Label", exact=True).click()
    answered(page)


def answered(page: "Page") -> None:
    playwright.expect(page.get_by_role("status")).to_have_text(re.compile("predicate|empty"))


def opened(page: "Page"):
    return page.locator(".detail:visible")


def states_of(page: "Page") -> list[tuple[str, str]]:
    """(role, state) of the arcs of the open proposition."""
    return page.evaluate(
        """[...document.querySelectorAll(".proposition.open .capsrl-arc")]
        .map((arc) => [arc.querySelector("text").textContent, arc.dataset.now])"""
    )


def expected_states(proposition: Proposition, step: int) -> list[list[str]]:
    return sorted([each.role, each.states[step]] for each in role_histories(proposition))


# Without a browser.


def test_no_external_files_and_no_inline_code():
    names = {path.name for path in STATIC.iterdir()}
    assert {"index.html", "app.js", "player.js", "style.css"} <= names
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        text = re.sub(r'<a href="https://[^"]*">', "", text)  # links load nothing
        assert not re.search(r"https?:|//[a-z]+\.[a-z]", text), path.name
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(", text), path
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<[^>]*\son\w+=|<[^>]*\sstyle=|<script(?![^>]*\ssrc=)|<style", page)


def test_examples_are_of_several_kinds_and_show_a_change(labeler):
    examples = read_examples((STATIC / "examples.txt").read_text(encoding="utf-8"))
    kinds = [kind for kind, _ in examples]
    assert {"News", "Dialogue", "Instruction", "Long"} <= set(kinds) and len(set(kinds)) == len(
        kinds
    )
    assert examples[0][1] == STORY
    found = [labeler.label(text, trace=True)[0].propositions for _, text in examples]
    assert all(found)
    # What the examples are there for: a word has another role after the first iteration.
    histories = [each for some in found for p in some for each in role_histories(p)]
    assert any(len(set(each.states[1:])) > 1 for each in histories)


def ask(labeler, body, path="/page/label?width=600", *, headers=None, **options):
    async def run():
        async with client_of(labeler, **options) as client:
            return await client.post(path, json=body, headers=headers)

    return asyncio.run(run())


def test_drawn_text(tiny):
    text = "the old man saw the dog"
    (expected,) = tiny.label(text)
    for traced in (True, False):
        html = ask(tiny, {"text": text, "trace": traced}).json()["html"]
        ids = [f's0p{each}"' for each in expected.predicates]
        assert all(f'id="{each}' in html for each in ids)
        assert ('data-steps="1"' in html) != traced and ("Second best" in html) == traced
    assert ask(tiny, {"texts": [text]}).json() == {"html": "", "note": ""}  # one text at a time


@pytest.mark.parametrize("text", ["Gestern hat der alte Mann seinen Hund im Garten gesucht.", LONG])
def test_text_in_another_language_gets_a_note(labeler, text):
    note = ask(labeler, {"text": text}).json()["note"]
    assert ("does not look like English" in note) == (text != LONG)


def page_of(labeler, path="/", **options) -> str:
    async def run():
        async with client_of(labeler, **options) as client:
            return (await client.get(path)).text

    return asyncio.run(run())


def test_the_model_decides_what_the_page_says(tiny, tmp_path):
    (tmp_path / "README.md").write_text(
        "---\nlanguage: de\nlicense: mit\n---\n# Kochrollen\n\n"
        "| set | F1 |\n|---|--:|\n| Test | 71.5 |\n"
        "\n## Examples\n\n- **Rezept** the old man saw the dog\n"
        "\n## Roles\n\n- **A0** Koch & Herd\n"
    )
    model = copy(tiny)
    model.folder = tmp_path
    page = page_of(model)
    for told in ("<h1>Kochrollen</h1>", "German text", "F1 71.5 on Test", "license mit", "Rezept"):
        assert told in page
    assert "Koch &amp; Herd" in page and "Nora" not in page and "$" not in page
    assert 'class="capsrl-line sentence"' in page  # the first example is drawn already
    card = Card(title="A <title>", examples=(("", "the dog saw the man"),))
    page = page_of(tiny, card=card)
    assert "<h1>A &lt;title&gt;</h1>" in page and "the dog saw the man" in page
    assert page_of(tiny, "/page/picture.svg", card=card).startswith("<svg")


def test_refusals_are_those_of_label(tiny):
    for body in ({}, {"text": 5}, {"text": "x" * 30_000}, {"text": "x", "unknown": 1}):
        refused, direct = ask(tiny, body), ask(tiny, body, "/label")
        assert (refused.status_code, refused.json()) == (direct.status_code, direct.json())
        assert refused.status_code in (413, 422)
    assert ask(tiny, {"text": "x"}, token="open sesame").status_code == 401
    headers = {"Authorization": "Bearer open sesame"}
    assert ask(tiny, {"text": "x"}, headers=headers, token="open sesame").status_code == 200
    for width in ("99", "4001", "wide", ""):
        assert ask(tiny, {"text": "x"}, f"/page/label?width={width}").status_code == 422


def test_markup_is_escaped(tiny):
    html = ask(tiny, {"text": HOSTILE, "trace": True}).json()["html"]
    root = ET.fromstring(f"<ol>{re.sub(' hidden(?=>)', '', html)}</ol>")
    assert not {each.tag for each in root.iter()} & {"img", "script"}
    names = {name for each in root.iter() for name in each.keys()}
    assert not {name for name in names if name.startswith("on") or name == "style"}


def test_pages_and_their_headers(tiny, labeler):
    async def run():
        async with client_of(labeler) as client, client_of(make_unsaved(tiny)) as other:
            page, card = await client.get("/"), await client.get("/page/model")
            return page, card, await client.get("/page/show.css"), await other.get("/page/model")

    def make_unsaved(model):
        return type(model)(model.network, model.config)

    page, card, style, none = asyncio.run(run())
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "data:" not in policy
    assert "<td>en_ewt test</td>" in card.text and "license: cc-by-sa-4.0" not in card.text
    assert card.headers["content-security-policy"] == policy
    assert f"capsrl {__version__}" in page.text and "$" not in page.text + card.text
    assert style.headers["content-type"].startswith("text/css") and ".capsrl-a0{" in style.text
    assert "<p>This model has no card.</p>" in none.text


def test_html_in_a_card_is_shown_as_text(tiny, tmp_path):
    hostile = '<script>alert(1)</script>\n\n[a](javascript:alert(2)) <b onclick="x">$version</b>'
    (tmp_path / "README.md").write_text(f"---\nlicense: x\n---\n{hostile}\n\n`---`\n")
    model = copy(tiny)
    model.folder = tmp_path

    async def run():
        async with client_of(model) as client:
            return (await client.get("/page/model")).text

    card = asyncio.run(run()).partition("<main>")[2]
    assert "&lt;script&gt;alert(1)" in card and "&lt;b onclick=&quot;x&quot;&gt;" in card
    assert not re.search("<script|<b |href=.javascript|license: x", card)
    assert "<code>---</code>" in card and "$version" in card


# In a browser.


@needs_browser
def test_opens_labeled_without_asking(browser, url):
    page = browser.new_page(base_url=url)
    page.clock.install(time=0)
    page.clock.pause_at(1000)  # else it goes on by itself
    messages, asked = watch(page), []
    page.on("request", lambda request: asked.append(request.method))
    page.goto("/")
    answered(page)
    shown, story = page.locator("#iteration-shown"), page.locator("#story")
    playwright.expect(shown).to_have_text("3 of 3")
    assert opened(page).count() == 1 and set(asked) == {"GET"}
    stops = page.locator(".overview .capsrl-phrase").evaluate_all(
        "all => all.map((each) => each.tabIndex)"
    )
    assert stops == [0, 0, 0, -1, -1]  # those of propositions that are closed are left out
    assert page.get_by_label("English text").input_value() == STORY
    page.get_by_role("button", name="Play").click()
    for step in ("0 of 3", "1 of 3", "2 of 3"):
        playwright.expect(shown).to_have_text(step)
        assert story.text_content().strip()
        page.clock.run_for(1300)
    playwright.expect(shown).to_have_text("3 of 3")
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(1300)
    playwright.expect(shown).to_have_text("1 of 3")
    page.get_by_role("button", name="Stop").click()
    page.clock.run_for(3000)
    assert shown.text_content() == "1 of 3"
    page.close()
    assert messages == []


@needs_browser
def test_overview_of_all_propositions(page, labeler):
    text = f"{LONG} 🎉 Oslo, at noon! Ana's “dog” barked."
    label(page, text)
    sentences = labeler.label(text)
    items = page.locator("#sentences > li")
    assert items.count() == len(sentences)
    for number, sentence in enumerate(sentences):
        item = items.nth(number)
        assert item.locator(".sentence:visible").text_content() == sentence.standalone().text
        rows = item.locator(".overview").all()
        for row, proposition in zip(rows, sentence.propositions, strict=True):
            heading = row.get_by_role("button").text_content()
            assert heading.startswith(f"{proposition.form} {proposition.sense}")
            assert f"sure: {show_percent(proposition.probability)}" in heading
            phrases = [  # in the order of the words
                (chip.locator("b").first.text_content(), chip.locator("b").last.text_content())
                for chip in row.locator(".capsrl-phrase").all()
            ]
            assert phrases == [(a.role, a.form) for a in proposition.arguments]
            shown = row.locator(".capsrl-text").all_text_contents()
            assert [words.replace(" ", "") for words in shown] == [
                a.phrase.text.replace(" ", "") for a in proposition.arguments
            ]
    assert "No predicates found." in items.nth(1).inner_text()
    assert opened(page).count() == 1


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sentence_is_colored_and_its_predicates_open(browser, url, labeler, scheme):
    page = browser.new_page(base_url=url, color_scheme=scheme, reduced_motion="reduce")
    page.goto("/#" + urlencode({"text": LONG}))
    answered(page)
    (sentence,) = labeler.label(LONG)
    for proposition in sentence.propositions:
        page.locator(f".sentence:visible a[data-p='{proposition.predicate}']").click()
        chosen = page.locator(".sentence:visible [aria-current]")
        playwright.expect(chosen).to_have_text(proposition.form)
        playwright.expect(chosen).to_be_focused()
        assert page.locator(".proposition.open").get_attribute("data-p") == str(
            proposition.predicate
        )
        marks = page.locator(".sentence:visible mark").evaluate_all(
            "all => all.map((each) => [each.dataset.role ?? '', getComputedStyle(each).color])"
        )
        roles = {part.role for part in proposition.arguments}
        assert {role for role, _ in marks if role} <= roles and (marks or not roles)
        for role, color in marks:
            assert not role or color == rgb_of(role, scheme)
    page.close()


@needs_browser
def test_second_best_on_demand(page, labeler):
    others = opened(page).locator(".capsrl-others")
    assert others.locator("dl").is_hidden()
    others.locator("summary").click()
    (sentence,) = labeler.label(STORY, trace=True)
    chosen = sentence.propositions[0]
    wanted = [sense for sense, _ in chosen.trace.senses]
    listed = [
        text.split()[0] for text in others.locator("dd").first.locator("li").all_inner_texts()
    ]
    assert chosen.sense in wanted and listed == wanted
    assert others.locator("dt").count() == 1 + len(chosen.arguments)
    assert "< 1 %" in others.locator("dd").last.inner_text()


@needs_browser
def test_code_for_programs(page, labeler):
    code = page.locator("#code")
    text = 'It\'s "here", she said.'
    label(page, text)
    printed = []
    exec(code.text_content(), {"print": printed.append})
    assert [each.propositions for each in printed] == [
        each.propositions for each in labeler.label(text)
    ]
    page.get_by_role("button", name="curl").click()
    playwright.expect(code).to_contain_text("curl")
    command = shlex.split(code.text_content().replace("\\\n", ""))
    assert command[1].endswith("/label") and json.loads(command[-1]) == {"text": text}
    page.get_by_role("button", name="JSON", exact=True).click()
    playwright.expect(code).to_contain_text('"sentences"')
    assert json.loads(code.text_content())["sentences"][0]["text"] == text
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy", exact=True).click()
    playwright.expect(page.get_by_role("status")).to_have_text("Code copied.")
    assert page.evaluate("navigator.clipboard.readText()") == code.text_content()


@needs_browser
def test_two_views_side_by_side(page):
    page.get_by_label("Iteration").fill("1")
    page.get_by_role("button", name="Compare").click()
    page.get_by_label("Iteration").fill("3")
    page.wait_for_url(re.compile("&i=3.*c-i=1"))
    pinned, open_ = page.locator("#pinned"), page.locator("#results")
    playwright.expect(pinned).to_contain_text("iteration 1 of 3")
    left, right = pinned.bounding_box(), open_.bounding_box()
    assert left["x"] + left["width"] <= right["x"] and scroll_width(page) <= 1280
    label(page, "Dogs bark.")
    playwright.expect(pinned).to_contain_text("reminded")
    page.locator("#examples a", has_text="Passive").click()
    playwright.expect(open_.locator(".sentence:visible")).to_contain_text("was fed by")
    playwright.expect(pinned.locator("[aria-current]")).to_have_text("reminded")
    page.goto(page.url)
    page.reload()
    playwright.expect(pinned).to_contain_text("iteration 1 of 3")
    assert find_barriers(page) == []
    page.get_by_role("button", name="Unpin").click()
    playwright.expect(pinned).to_be_hidden()
    assert "c-i" not in page.url


@needs_browser
def test_one_control_moves_arcs_and_table(page, labeler):
    assert page.locator("select").count() == 0 and page.get_by_role("slider").count() == 1
    page.goto("/#" + urlencode({"text": STORY, "n": 4, "p": 1, "i": 0}))
    slider = page.get_by_label("Iteration")
    playwright.expect(slider).to_have_attribute("max", "4")
    (sentence,) = labeler.label(STORY, trace=True, iterations=4)
    proposition = sentence.propositions[0]
    for step in (4, 0, 1, 2, 3):
        slider.fill(str(step))
        assert sorted(states_of(page)) == expected_states(proposition, step)
        current = page.locator("td.current span").all_text_contents()
        probs = [each.probs[step] for each in role_histories(proposition)]
        wanted = [f"{prob:.2f}" if prob >= 0.05 else "" for prob in probs]
        assert current == (wanted if step else [])  # before the first, all are small
        has_ghosts = any(state == "p" for _, state in states_of(page))
        assert page.get_by_text("Dashed: a role that was given up.").is_visible() == has_ghosts
        brackets = page.locator(".proposition.open .capsrl-bracket[data-now=n]:visible").count()
        kept = [each for each in role_histories(proposition) if each.argument]
        assert brackets == sum(each.states[step] == "n" for each in kept)


@needs_browser
def test_table_is_beside_the_drawing(page):
    drawing = page.locator(".detail:visible .capsrl-drawing").bounding_box()
    table = page.locator(".detail:visible table").bounding_box()
    assert table["x"] > drawing["x"] + drawing["width"]
    assert abs(table["y"] - drawing["y"]) < 60


def rgb_of(role: str, scheme: str) -> str:
    color = role_color(role, dark=scheme == "dark")
    return f"rgb({', '.join(str(int(color[n : n + 2], 16)) for n in (1, 3, 5))})"


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_role_has_its_color_everywhere(browser, url, scheme):
    page = browser.new_page(base_url=url, color_scheme=scheme, reduced_motion="reduce")
    page.goto("/#" + urlencode({"text": STORY, "p": 1, "i": 3}))
    answered(page)
    seen = page.evaluate(
        """["phrase", "arc[data-now=n]", "role:not(:has(s))"].map((kind) =>
        [...document.querySelectorAll(`.proposition.open .capsrl-${kind}`)].map((part) => [
          part.querySelector("text, b")?.textContent ?? part.dataset.role,
          getComputedStyle(part).color])).map((pairs) => pairs.sort())"""
    )
    assert seen[0] == seen[1] == seen[2] != []
    assert all(color == rgb_of(role, scheme) for role, color in seen[0])
    page.close()


@needs_browser
def test_meanings_on_hover_and_focus(page):
    for kind, meaning in (
        (".overview .capsrl-phrase", role_meaning("A0")),
        ("table .capsrl-role", role_meaning("A0")),
    ):
        role = page.locator(f".proposition.open {kind}").first
        tip = role.locator(".capsrl-tip")
        assert tip.text_content() == f" {meaning}"
        assert tip.bounding_box()["width"] <= 1
        role.hover()
        wait_for_width(tip, "> 100")
        page.mouse.move(0, 0)
        wait_for_width(tip, "<= 1")
        role.focus()
        wait_for_width(tip, "> 100")
        page.keyboard.press("Escape")
        wait_for_width(tip, "<= 1")


@needs_browser
def test_lines_without_roles_are_folded(page):
    page.goto("/#" + urlencode({"text": LONG, "p": BUILD, "i": 3}))
    folded = opened(page).locator("details")
    playwright.expect(folded.first).to_contain_text("words without a role")
    height = opened(page).locator(".capsrl-drawing").bounding_box()["height"]
    folded.first.locator("summary").click()
    playwright.expect(folded.first).to_have_attribute("open", "")
    assert opened(page).locator(".capsrl-drawing").bounding_box()["height"] > height + 20
    assert find_overlaps(page) == []


@needs_browser
def test_downloads_equal_files_of_the_library(page, labeler, tmp_path):
    text = f"{STORY} Oslo, at noon! “Ana”\u00a0sang 🎉 and left."
    label(page, text)
    sentences = [sentence.standalone() for sentence in labeler.label(text)]
    read = list(read_jsonl(saved(page, "JSON lines", "capsrl.jsonl", tmp_path).splitlines()))
    assert [sentence.to_json() for sentence in read] == [s.to_json() for s in sentences]
    rows = saved(page, "CoNLL-2009", "capsrl.conll09", tmp_path)
    fill = labeler.inventory.lemmatizer.fill
    assert rows == "".join(format_conll09(fill(sentence)) for sentence in sentences)
    table = saved(page, "CSV", "capsrl.csv", tmp_path).splitlines()
    arguments = [part for s in sentences for p in s.propositions for part in p.arguments]
    assert table[0].split(",")[:2] == ["document", "sentence"]
    assert len([line for line in table[1:] if ",A" in line]) == len(arguments)


@needs_browser
def test_downloaded_drawing(page, labeler, tmp_path):
    (sentence,) = labeler.label(STORY, trace=True)
    histories = role_histories(sentence.propositions[0])
    for step in (1, 2):
        page.get_by_label("Iteration").fill(str(step))
        tree = ET.fromstring(saved(page, "SVG", "capsrl-remind.01.svg", tmp_path))
        drawn = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
        dashed = [each for each in tree.iter() if each.get("stroke-dasharray")]
        assert len(dashed) == sum(each.states[step] == "p" for each in histories)
        assert [word for word in drawn if word in STORY] == [*STORY[:-1].split(), "."]
        shown = [each.role for each in histories if each.states[step] != "f"]
        assert sorted(word for word in drawn if word.startswith("A")) == sorted(shown)


@needs_browser
def test_drawing_as_png(page, tmp_path):
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == "capsrl-remind.01.png"
    download.value.save_as(tmp_path / "drawing.png")
    data = (tmp_path / "drawing.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    drawn = opened(page).locator("svg").first.bounding_box()
    width = int.from_bytes(data[16:20], "big")
    assert abs(width - 2 * drawn["width"]) <= 4 and len(data) > 2000  # it is not empty


def saved(page: "Page", button: str, name: str, folder: Path) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    assert download.value.suggested_filename == name
    download.value.save_as(folder / name)
    return (folder / name).read_bytes().decode()


@needs_browser
def test_errors_in_plain_words(browser, url):
    page = browser.new_page(base_url=url)
    page.goto("/")
    answered(page)
    button, error = page.get_by_role("button", name="Label", exact=True), page.get_by_role("alert")
    page.get_by_label("English text").fill("Birds sing. " * 100)
    button.click()
    playwright.expect(error).to_have_text(
        "The text is too long. This page takes up to 1,000 characters at a time."
    )
    playwright.expect(page.get_by_role("region", name="Propositions")).to_be_hidden()
    label(page, "Birds sing.")
    playwright.expect(error).to_be_hidden()
    for status, headers, words in (
        (503, {"Retry-After": "7"}, "The server is busy. Try again in 7 seconds."),
        (500, {}, "Something went wrong on the server (error 500). Try again."),
    ):
        respond = {"status": status, "headers": headers, "body": json.dumps({"detail": "x"})}
        page.route("**/page/label*", lambda route, _, respond=respond: route.fulfill(**respond))
        button.click()
        playwright.expect(error).to_have_text(words)
        page.unroute("**/page/label*")
    page.context.set_offline(True)
    button.click()
    playwright.expect(error).to_contain_text("The server cannot be reached.")
    shown = page.locator(".sentence:visible")
    playwright.expect(shown).to_have_text("Birds sing.")  # still the result of this text
    page.get_by_label("English text").fill("Dogs bark.")
    button.click()
    playwright.expect(shown).to_have_count(0)
    page.context.set_offline(False)
    label(page, "Dogs bark.")
    playwright.expect(shown).to_have_text("Dogs bark.")
    page.close()


@needs_browser
def test_focus_ring_leaves_the_label_whole(page):
    box = page.get_by_label("English text")
    box.focus()
    ring = box.evaluate(
        """(box) => parseFloat(getComputedStyle(box).outlineWidth)
        + parseFloat(getComputedStyle(box).outlineOffset)"""
    )
    above = page.locator("label[for=text]").bounding_box()
    assert ring > 0 and above["y"] + above["height"] <= box.bounding_box()["y"] - ring


@needs_browser
def test_token(browser, labeler):
    with serving(make_app(labeler, token="open sesame")) as address:
        page = browser.new_page(base_url=address)
        page.goto("/")
        token, error = page.get_by_label("Access token"), page.get_by_role("alert")
        page.get_by_role("button", name="Label", exact=True).click()
        playwright.expect(error).to_have_text(
            "This server needs an access token. Enter it, then choose Label."
        )
        playwright.expect(token).to_be_focused()
        token.fill("wrong")
        page.keyboard.press("Enter")
        playwright.expect(error).to_have_text("This is not the token of this server.")
        token.fill("open sesame")
        page.keyboard.press("Enter")
        answered(page)
        playwright.expect(token).to_be_hidden()
        page.close()


@needs_browser
def test_keyboard(page):
    page.get_by_label("English text").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("Dogs bark and cats sleep.")
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator(".sentence:visible")).to_have_text("Dogs bark and cats sleep.")
    focused = page.locator(":focus")

    def tab_to(name: str) -> None:
        for _ in range(20):
            page.keyboard.press("Tab")
            if name in (focused.text_content() or "") or focused.get_attribute("id") == name:
                return
        raise AssertionError(f"no {name} within 20 tabs")

    tab_to("Label")
    tab_to("Examples")
    page.locator(".overview button").first.focus()
    tab_to("play")
    tab_to("iteration")
    assert focused.get_attribute("aria-valuetext") == "3 of 3"
    page.keyboard.press("ArrowLeft")
    assert page.locator("#iteration-shown").text_content() == "2 of 3"
    assert focused.get_attribute("aria-valuetext") == "2 of 3"
    page.keyboard.press("Home")
    assert {state for _, state in states_of(page)} == {"f"}
    page.locator(".overview button").last.focus()
    page.keyboard.press("Enter")
    assert focused.get_attribute("aria-expanded") == "true"
    assert page.locator("[aria-expanded=true]").count() == opened(page).count() == 1
    stops = page.locator(".capsrl-phrase[tabindex='0']")
    n_stops = stops.count()
    assert n_stops == page.locator(".proposition.open .capsrl-phrase[tabindex='0']").count() > 0
    page.keyboard.press("Enter")
    assert opened(page).count() == stops.count() == 0
    assert page.locator("#controls").is_hidden()


@needs_browser
def test_address_restores_the_view(page):
    text = f"Birds sing. {STORY}"
    page.goto("/#" + urlencode({"text": text, "n": 4, "s": 1, "p": 1, "i": 1}))
    playwright.expect(page.locator("#iteration-shown")).to_have_text("1 of 4")
    chosen = page.locator("[aria-expanded=true]")
    assert chosen.text_content().startswith("reminded remind.01")
    assert page.get_by_label("English text").input_value() == text
    page.get_by_label("Iteration").fill("2")
    page.wait_for_url(re.compile("i=2"))
    seen, address = opened(page).inner_text(), page.url
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    playwright.expect(page.get_by_role("status")).to_have_text("Link copied.")
    assert page.evaluate("navigator.clipboard.readText()") == address
    page.get_by_role("link", name="Passive").click()
    playwright.expect(chosen).to_contain_text("fed feed.01")
    page.get_by_role("link", name="Roles").click()  # a part of the page, not a view
    playwright.expect(page.locator("#roles dl")).to_be_visible()
    playwright.expect(chosen).to_contain_text("fed feed.01")
    page.goto(address)
    playwright.expect(chosen).to_contain_text("reminded remind.01")
    assert opened(page).inner_text() == seen


@needs_browser
@pytest.mark.parametrize("address", ["#text=Hm.&p=7&i=99&s=-1", "#text=", "#p=1", "#%%%&text=%FF"])
def test_wrong_addresses(page, address):
    page.goto("/" + address)
    page.reload()
    answered(page)
    label(page, STORY)
    assert page.locator("#iteration-shown").text_content() == "3 of 3"


@needs_browser
def test_no_predicates_and_no_words(page):
    label(page, "Oslo, at noon!")
    assert "No predicates found" in page.get_by_role("status").text_content()
    assert opened(page).count() == 0
    page.get_by_label("English text").fill("   ")
    page.get_by_role("button", name="Label", exact=True).click()
    playwright.expect(page.get_by_role("status")).to_have_text("The text is empty.")
    assert page.locator("#sentences > li").count() == 0


@needs_browser
def test_markup_is_not_interpreted(page, tmp_path):
    label(page, HOSTILE)
    for button in page.locator(".overview button").all():
        if button.get_attribute("aria-expanded") == "false":
            button.click()
        assert page.locator("main img, main script").count() == 0
        assert "<img" in "".join(opened(page).locator("text").all_text_contents())
        with page.expect_download() as download:
            page.get_by_role("button", name="SVG").click()
        download.value.save_as(tmp_path / "hostile.svg")
        ET.parse(tmp_path / "hostile.svg")


@needs_browser
@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        *((320, "dark"), (768, "light"), (1280, "dark"), (1920, "light")),
        *(
            pytest.param(width, scheme, marks=pytest.mark.slow)
            for width in (320, 360, 390, 600, 768, 960, 1024, 1280, 1600, 1920)
            for scheme in ("light", "dark")
        ),
    ],
)
def test_fits_every_screen(browser, url, width, scheme):
    page = browser.new_page(
        base_url=url,
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    messages = watch(page)
    page.goto("/#" + urlencode({"text": f"{LONG} He read {'x' * 120}.org yesterday."}))
    answered(page)
    for button in page.locator(".overview button").all():
        if button.get_attribute("aria-expanded") == "false":
            button.click()
        assert scroll_width(page) <= width
        assert find_overlaps(page) == []
        room = opened(page).bounding_box()["width"]
        for phrase in page.locator(".proposition.open .capsrl-phrase").all():
            phrase.focus()  # shows the meaning of its role
            assert scroll_width(page) <= width
        widths = [line.bounding_box() for line in opened(page).locator("svg:visible").all()]
        assert widths and max(box["width"] for box in widths) <= room
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"dark": "rgb(22, 24, 29)", "light": "rgb(255, 255, 255)"}[scheme]
    page.close()
    assert messages == []


@needs_browser
def test_drawings_follow_the_width_of_the_window(page):
    page.goto("/#" + urlencode({"text": LONG, "p": BUILD, "i": 2}))
    playwright.expect(page.locator("[aria-expanded=true]")).to_contain_text("build")
    wide = opened(page).locator("svg:visible").first.bounding_box()["width"]
    page.set_viewport_size({"width": 400, "height": 800})
    playwright.expect(opened(page).locator("svg:visible")).not_to_have_count(1)
    page.wait_for_function("document.documentElement.scrollWidth <= 400")
    narrow = opened(page).locator("svg:visible").first.bounding_box()["width"]
    assert narrow < min(wide, 400)
    assert page.locator("#iteration-shown").text_content() == "2 of 3"
    assert "build" in page.locator("[aria-expanded=true]").text_content()


@needs_browser
def test_targets_on_phones(browser, url):
    page = browser.new_page(
        base_url=url, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True
    )
    page.goto("/#" + urlencode({"text": LONG, "p": BUILD, "i": 3}))
    answered(page)
    assert page.locator(".keys").is_hidden()
    page.locator("#examples summary").click()
    # Links within a text may be as small as it is.
    targets = "button, a:not(p a, .sentence a), input, textarea, summary, [tabindex='0']"
    for target in page.locator(targets).all():
        if target.is_visible():
            box = target.bounding_box()
            assert min(box["height"], box["width"]) >= 43.9, target.evaluate("e => e.outerHTML")
    page.close()


@needs_browser
def test_print(page):
    page.emulate_media(media="print")
    for unseen in ("form", "#examples", "nav", "#controls", "#save-json"):
        assert page.locator(unseen).is_hidden()
    for seen in (".sentence", ".overview", ".capsrl-drawing", "table"):
        assert page.locator(f"#results {seen}").first.is_visible()


@needs_browser
def test_forced_colors(browser, url):
    page = browser.new_page(base_url=url, forced_colors="active", reduced_motion="reduce")
    page.goto("/")
    answered(page)
    style = "each => getComputedStyle(each).outlineStyle"
    chosen, other = page.locator(".overview button").all()
    assert (chosen.evaluate(style), other.evaluate(style)) == ("solid", "none")
    assert page.locator("th.current").evaluate(style) == "solid"
    page.close()


@needs_browser
@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        *((320, "dark"), (1280, "light")),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((320, "light"), (1280, "dark"))),
    ],
)
def test_accessibility(browser, url, labeler, width, scheme):
    page = browser.new_page(
        base_url=url,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page.goto("/#" + urlencode({"text": f"{LONG} {STORY}", "s": 1, "p": 1, "i": 2}))
    answered(page)
    assert find_barriers(page) == []
    page.get_by_role("slider").fill("0")  # no word has its role yet
    not_yet = opened(page).locator("tr[data-now=f] .capsrl-role")
    (sentence,) = labeler.label(STORY, trace=True)
    playwright.expect(not_yet).to_have_count(len(role_histories(sentence.propositions[0])))
    for role in not_yet.all():  # axe misses fading, which takes contrast
        playwright.expect(role).to_have_css("opacity", "1")
    page.close()


# Words of the tables of the model card that are on more than one line; file names may be.
_BROKEN_WORDS = """() => [...document.querySelectorAll("td")].flatMap((cell) => {
  const text = cell.firstChild, range = document.createRange();
  return [...text.data.matchAll(/(?<![^\\s(])[A-Za-z]+(?=[\\s,.;)]|$)/g)].filter((word) => {
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    return range.getClientRects().length > 1;
  }).map(String);
})"""


@needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (375, "light"), (1280, "dark")])
def test_model_card(browser, url, width, scheme):
    page = browser.new_page(
        base_url=url, viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    messages = watch(page)
    page.goto("/")
    page.get_by_role("link", name="Model card").click()
    playwright.expect(page.get_by_role("heading", level=1)).to_have_text("capsrl English")
    page.wait_for_load_state()  # of the card: clicking does not wait for it
    assert page.get_by_role("table").count() == 2
    assert scroll_width(page) <= width
    assert page.evaluate(_BROKEN_WORDS) == []
    assert find_barriers(page) == []
    assert page.get_by_role("img").first.evaluate("each => each.naturalWidth") > 100
    assert page.locator("main").bounding_box()["width"] <= 46 * 16
    assert page.get_by_role("link", name="https://").count() > 0
    playwright.expect(page.get_by_role("heading", name="Citation")).to_be_visible()
    page.get_by_role("link", name="Label a text").click()
    answered(page)
    page.close()
    assert messages == []


@needs_browser
def test_links(page):
    for name, path in (("Model card", "page/model"), ("API", "docs")):
        link = page.get_by_role("link", name=name)
        assert link.get_attribute("href") == path
        assert page.request.get(f"/{path}").ok
