"""The page of mistakes: what it shows, its filters in a browser, and hostile text."""

import html.parser
import shutil
from collections.abc import Iterator

import pytest

from capsrl.score import compare_sentences
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.show.colors import ROLES, role_color
from capsrl.show.mistakes_page import mistakes_page
from tests.helpers.score_sentences import sentence

CHROMIUM = shutil.which("chromium")
GOLD = [
    sentence("She sold him cars", (1, "sell.01", "A0:0 A2:2 A1:3")),
    sentence("They left", (1, "leave.01", "A0:0")),
    sentence("Go home", (0, "go.01", "A4:1")),
]
PRED = [
    sentence("She sold him cars", (1, "sell.02", "A0:0 A1:2")),
    sentence("They left", (1, "leave.01", "A0:0")),
    sentence("Go home", (0, "go.01", "AM-GOL:1")),
]


def make_page(gold=GOLD, pred=PRED, title="Mistakes") -> str:
    return "".join(mistakes_page(list(compare_sentences(gold, pred)), title=title))


class Cells(html.parser.HTMLParser):
    """Collects the text of table rows and all tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._inside = True

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self._inside:
            self.rows[-1][-1] += data


def test_page_without_mistakes():
    page = make_page(pred=GOLD)
    assert "<p>0 of 3 propositions have a mistake.</p>" in page
    assert not {"form", "article", "script"} & {tag for tag, _ in Cells(page).tags}
    assert page.endswith("</body>\n</html>\n")


def test_gold_stands_beside_predicted():
    page = make_page()
    assert "2 of 3 propositions have a mistake" in page
    head = ["gold", "predicted", "mistake"]
    assert Cells(page).rows == [
        head,
        ["sell.01 sold", "sell.02 sold", "wrong sense"],
        ["A0 She", "A0 She", ""],
        ["A2 him", "A1 him", "wrong role"],
        ["A1 cars", "", "missed argument"],
        head,
        ["go.01 Go", "go.01 Go", ""],
        ["A4 home", "AM-GOL home", "wrong role"],
    ]
    assert f"--light:{role_color('A2')};--dark:{role_color('A2', dark=True)}" in page
    assert "sentence 3</small> <b>Go</b> <mark>home</mark></p>" in page


def test_phrases_and_probabilities():
    words = tuple("a b c d e f g h i j k l".split())
    long = Argument("A1", 6, 0.25, phrase=Phrase(1, 11))
    gold = Sentence(words, (Proposition(0, "x.01", (Argument("A0", 6, phrase=Phrase(5, 6)),)),))
    pred = Sentence(words, (Proposition(0, "x.01", (long,), 0.5),))
    rows = Cells(make_page([gold], [pred])).rows
    assert rows[1:] == [
        ["x.01 a", "x.01 a 0.50", ""],
        ["A0 f g", "A1 … c d e f g h i j k … 0.25", "wrong role"],
    ]


def test_the_page_is_self_contained():
    tags = Cells(make_page()).tags
    assert not [t for t, a in tags if t in ("link", "img", "iframe") or "src" in a or "href" in a]


HOSTILE = "</script><script>alert(1)</script>\"'<img/src=x/onerror=alert(2)>&amp;\u202e\x01\ud800"


def test_hostile_text_is_shown_as_text():
    gold = Sentence(
        (HOSTILE, "b"), (Proposition(1, f"s{HOSTILE}", (Argument("A0", 0),)),), id=HOSTILE
    )
    pred = Sentence((HOSTILE, "b"), (Proposition(1, "s.01", (Argument(HOSTILE, 0),)),))
    page = make_page([gold], [pred], title=HOSTILE)
    page.encode()  # no lone surrogates
    tags = [tag for tag, _ in Cells(page).tags]
    assert tags.count("script") == 1 and "img" not in tags
    assert page.count("</script>") == 1


def test_the_colors_can_be_read_on_highlighted_rows():
    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = (part.split(";")[0] for part in make_page().split("--wrong: ")[1:3])
    for role in ROLES:
        assert (luminance(light) + 0.05) / (luminance(role_color(role)) + 0.05) > 4.5, role
        color = luminance(role_color(role, dark=True))
        assert (color + 0.05) / (luminance(dark) + 0.05) > 4.5, role


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no chromium")
    with playwright.sync_playwright() as driver:
        switches = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=switches)
        yield browser
        browser.close()


def open_page(browser, tmp_path, page, **options):
    (tmp_path / "errors.html").write_text(page, encoding="utf-8")
    opened = browser.new_page(**options)
    problems = []
    opened.on("console", lambda message: problems.append(message.text))
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("dialog", lambda dialog: problems.append(dialog.message))
    opened.goto(f"file://{tmp_path}/errors.html")
    assert problems == []
    return opened


def test_filters(browser, tmp_path):
    page = open_page(browser, tmp_path, make_page())

    def shown():
        assert page.inner_text("output") == f"{page.locator('article:visible').count()} shown"
        # Not their inner text: Chromium lays out an article only when it draws it
        # (content-visibility), and until then its inner text is empty.
        return page.locator("article:visible").all_text_contents()

    assert len(shown()) == 2
    kinds, roles = (page.locator(f"select[name={name}] option") for name in ("kind", "role"))
    assert kinds.all_text_contents() == [
        *("all kinds (4)", "wrong role (2)", "wrong sense (1)", "missed argument (1)")
    ]
    assert roles.all_text_contents()[:2] == ["all roles", "A1 (2)"]
    page.select_option("select[name=kind]", "missed argument")
    assert [text.split()[2] for text in shown()] == ["She"]
    page.select_option("select[name=role]", "A2")  # only in another mistake of that proposition
    assert shown() == []
    page.select_option("select[name=kind]", "wrong role")
    assert len(shown()) == 1
    page.select_option("select[name=role]", "AM-GOL")
    assert [text.split()[2] for text in shown()] == ["Go"]
    page.select_option("select[name=role]", "")
    page.fill("input", "SELL.02")
    assert [text.split()[2] for text in shown()] == ["She"]
    page.close()


def test_hostile_text_in_a_browser(browser, tmp_path):
    gold = Sentence((HOSTILE, "b"), (Proposition(1, "s.01", (Argument("A0", 0),)),), id=HOSTILE)
    pred = Sentence((HOSTILE, "b"), (Proposition(1, "s.01", (Argument(HOSTILE, 0),)),))
    page = open_page(browser, tmp_path, make_page([gold], [pred], title=HOSTILE))
    page.select_option("select[name=role]", index=2)
    assert page.inner_text("output") == "1 shown"
    page.close()


def test_a_phone(browser, tmp_path):
    long = sentence(f"{'x' * 200} sold cars", (1, "sell.01", "A0:0"))
    other = sentence(f"{'x' * 200} sold cars", (1, "sell.01", "A1:0"))
    page = open_page(
        browser, tmp_path, make_page([long], [other]), viewport={"width": 320, "height": 600}
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    heights = page.evaluate(
        "Array.from(document.querySelectorAll('select, input'), e => e.offsetHeight)"
    )
    assert len(heights) == 3 and min(heights) >= 44
    page.close()
