"""Lines of hits, cut and marked."""

import pytest

from capsrl.show.kwic import hits_html, kwic_lines, name_of_hit, parts_of_hit

HIT = {
    "document": "d1",
    "sentence": 2,
    "sentence_id": None,
    "text": "Mira sold her <old> car to Omar.",
    "predicate": "sold",
    "predicate_start": 5,
    "sense": "sell.01",
    "arguments": [
        {"role": "A0", "phrase": "Mira", "phrase_start": 0},
        {"role": "A1", "phrase": "her <old> car", "phrase_start": 10},
        {"role": "A2", "phrase": "to Omar", "phrase_start": 24},
    ],
}


def test_parts():
    before, after = parts_of_hit(HIT)
    assert before == [("A0", "Mira"), ("", " ")]
    assert after == [("", " "), ("A1", "her <old> car"), ("", " "), ("A2", "to Omar"), ("", ".")]


def test_the_shorter_of_two_arguments_has_a_word():
    inner = {"role": "AM-TMP", "phrase": "old", "phrase_start": 15}
    _, after = parts_of_hit(HIT | {"arguments": [inner, *HIT["arguments"]]})
    assert after[1:4] == [("A1", "her <"), ("AM-TMP", "old"), ("A1", "> car")]


@pytest.mark.parametrize("start", [-1, 3, 99])
def test_wrong_offsets_are_found_again(start):
    argument = {"role": "A2", "phrase": "Omar", "phrase_start": start}
    absent = {"role": "A3", "phrase": "ten; dollars", "phrase_start": -1}
    hit = HIT | {"predicate_start": start, "arguments": [argument, absent]}
    assert parts_of_hit(hit)[1] == [("", " her <old> car to "), ("A2", "Omar"), ("", ".")]


def test_lines_are_aligned_and_cut():
    other = HIT | {"sentence_id": "long-name-1", "predicate": "car", "predicate_start": 20}
    lines = [line.plain for line in kwic_lines([HIT, other], 60)]
    assert [name_of_hit(HIT), name_of_hit(other)] == ["d1:2", "long-name-1"]
    assert lines[0].startswith("d1:2  ") and lines[0].index("sold") == lines[1].index("car")
    assert "[A0 Mira] sold [A1 her <old> car] [A2" in lines[0]
    assert max(map(len, lines)) <= 60


def test_the_end_of_a_long_name_is_shown():
    [line] = kwic_lines([HIT | {"document": "folder/" * 9 + "corpus.conll09"}], 80)
    assert line.plain.startswith("/folder/corpus.conll09:2  ")


def test_only_the_name_is_dim():
    [line] = kwic_lines([HIT], 60)
    assert [(span.start, span.end) for span in line.spans if span.style == "dim"] == [(0, 6)]
    assert not line.style


def test_a_line_has_no_control_characters():
    [line] = kwic_lines([HIT | {"text": "Mira sold\nher\x1b[31m car"}], 80)
    assert line.plain.endswith("[A0 Mira] sold her\u241b[31m car")


def test_html_is_escaped_and_marked():
    page = "".join(hits_html([HIT], "sell.01 <A0>"))
    assert "<title>sell.01 &lt;A0&gt;</title>" in page and page.endswith("</html>\n")
    assert 'data-role="A1"><span>her &lt;old&gt; car</span></mark>' in page
    assert '<a aria-current="true">sold</a>' in page
