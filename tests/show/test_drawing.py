"""Drawings are well-formed whatever the words are, complete, and readable in both themes."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show import svg, svg_sheet
from capsrl.show.drawing import DARK, LIGHT
from capsrl.show.formatting import visible
from tests.helpers.show_sentences import contract, long_sentence

SVG = "{http://www.w3.org/2000/svg}"
ANY_TEXT = st.text(st.characters(codec=None), max_size=8)


def texts(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


@settings(deadline=None)
@given(st.lists(ANY_TEXT, min_size=1, max_size=12), ANY_TEXT, ANY_TEXT)
def test_any_text_gives_well_formed_xml(words, sense, role):
    arguments = (Argument(role, len(words) - 1, 0.5), Argument(role, 0))
    sentence = Sentence(tuple(words)).with_propositions([Proposition(0, sense, arguments, 0.25)])
    drawn = svg(sentence)
    shown = texts(ET.fromstring(drawn.encode()))
    assert {visible(word) for word in words} <= set(shown)
    assert f"{visible(sense) or '?'} 0.25" in shown


def test_worked_example():
    root = ET.fromstring(svg(contract()))
    signed, left = root.findall(f".//{SVG}g[@color]")
    assert texts(signed) == ["A0 0.99", "A1 0.97", "AM-TMP 0.95", "signed", "sign.01 0.98"]
    assert texts(left) == ["A0 0.81", "left", "leave.01 0.60"]
    (words,) = root.findall(f".//{SVG}g[@class='capsrl-ink']")
    assert texts(words) == ["Hiti", "the", "contract", "yesterday", "and", "."]
    assert [path.get("stroke-opacity") for path in left.iter(f"{SVG}path")] == ["0.88", None]


def test_sheet():
    alone = ET.fromstring(svg(contract())), ET.fromstring(svg(long_sentence()))
    sheet = ET.fromstring(svg_sheet([contract(), long_sentence()]))
    assert texts(sheet) == texts(alone[0]) + texts(alone[1])
    assert sheet.get("width") == alone[1].get("width")
    heights = [float(root.get("height")) for root in (*alone, sheet)]
    assert heights[2] == pytest.approx(heights[0] + heights[1], abs=1)
    first, second = sheet.findall(f"{SVG}g")
    assert first.get("transform") == "translate(14 0)"
    x, y = second.get("transform").removeprefix("translate(").removesuffix(")").split()
    assert (x, float(y)) == ("14", pytest.approx(heights[0], abs=1))


def test_sheet_of_one_and_of_none():
    assert svg_sheet([contract()]) == svg(contract())
    assert texts(ET.fromstring(svg_sheet([]))) == []


def test_some_propositions():
    sentence = contract()
    root = ET.fromstring(svg(replace(sentence, propositions=sentence.propositions[1:])))
    (left,) = root.findall(f".//{SVG}g[@color]")
    assert "signed" not in texts(left)
    assert "signed" in texts(root)


def test_two_propositions_of_one_word():
    sentence = Sentence(("go",)).with_propositions([Proposition(0, "go.01"), Proposition(0, None)])
    shown = [text for text in ET.fromstring(svg(sentence)).iter(f"{SVG}text")]
    assert [text.text for text in shown] == ["go", "go.01", "?"]
    assert len({text.get("y") for text in shown}) == 3


def test_everything_is_inside():
    root = ET.fromstring(svg(long_sentence()))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for element in [*root.iter(f"{SVG}text"), *root.iter(f"{SVG}rect")]:
        if element.get("x") is not None:
            x, y = float(element.get("x", 0)), float(element.get("y", 0))
            assert 0 <= x <= x + float(element.get("width", 0)) <= width - 28  # two margins
            assert 0 < y < height


def test_improbable_arcs_are_paler():
    def opacity(probability: float | None) -> float:
        part = Proposition(0, "go.01", (Argument("A0", 1, probability),))
        root = ET.fromstring(svg(Sentence(("go", "on")).with_propositions([part])))
        path = next(iter(root.iter(f"{SVG}path")))
        return float(path.get("stroke-opacity", "nan"))

    assert opacity(0.1) < opacity(0.5) < opacity(0.9) < opacity(1.0) == opacity(None) == 1.0
    assert opacity(-3.0) == opacity(0.0) > 0.3


def test_sentences_without_propositions_or_words():
    assert texts(ET.fromstring(svg(Sentence(("Hello", "!"))))) == ["Hello", "!"]
    assert texts(ET.fromstring(svg(Sentence(())))) == []


def test_themes():
    light, dark = svg(contract()).split("</style>")[::-1]
    assert LIGHT.paper in light and DARK.paper not in light
    assert "prefers-color-scheme:dark" in dark
    assert DARK.paper in dark and LIGHT.paper not in dark


def test_lines_wrap_at_max_width():
    sentence = replace(long_sentence(), propositions=())
    for max_width in (200, 500, 1000):
        root = ET.fromstring(svg(sentence, max_width=max_width))
        assert max_width * 0.6 < float(root.get("width", 0)) <= max_width + 28


def luminance(color: str) -> float:
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_contrast(palette):
    """WCAG 2 requires a contrast of 4.5 for small text."""
    for color in (palette.ink, *palette.hues):
        low, high = sorted((luminance(color), luminance(palette.paper)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, color
    assert len(set(palette.hues)) == len(palette.hues) == len(LIGHT.hues)
