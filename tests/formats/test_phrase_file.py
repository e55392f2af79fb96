import gzip
import lzma
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import DataError
from capsrl.formats.formats import read_sentences, write_sentences
from capsrl.formats.phrase_file import (
    PhraseLine,
    format_phrases,
    phrase_file_of,
    read_phrases,
    with_phrase_file,
)
from capsrl.sentence import Argument, Phrase, Proposition, Sentence

EMPTY = Sentence(("Well", "."))
SOLD = Sentence(
    ("Mira", "sold", "her", "old", "bicycle", "to", "Jonas", "."),
    (Proposition(1, "sell.01", (Argument("A0", 0), Argument("A1", 4), Argument("A2", 6))),),
)
LINES = "2\t2\tA0\t1\t1\t1\n2\t2\tA1\t5\t3\t5\n2\t2\tA2\t7\t6\t7\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.spans.tsv"
    path.write_text(LINES, encoding="utf-8")
    return path


def phrases(sentence):
    return [
        argument.phrase
        for proposition in sentence.propositions
        for argument in proposition.arguments
    ]


def test_lines(path):
    where = f"{path}:2"
    assert list(read_phrases(path))[1] == PhraseLine(1, 1, "A1", 4, 2, 4, where)


def test_phrases_are_added(path):
    first, second, third = with_phrase_file([EMPTY, SOLD, EMPTY], path)
    assert first == third == EMPTY
    assert phrases(second) == [Phrase(0, 0), Phrase(2, 4), Phrase(5, 6)]
    assert [phrase.text for phrase in phrases(second)] == ["Mira", "her old bicycle", "to Jonas"]


def test_offsets_count_into_the_text(path):
    text = "Mira sold her  old bicycle to Jonas."
    starts = (0, 5, 10, 15, 19, 27, 30, 35)
    offsets = tuple(
        (start, start + len(word)) for start, word in zip(starts, SOLD.words, strict=True)
    )
    sentence = Sentence(SOLD.words, SOLD.propositions, text=text, offsets=offsets)
    _, labeled = with_phrase_file([EMPTY, sentence], path)
    assert phrases(labeled)[1] == Phrase(2, 4, 10, 26)
    assert phrases(labeled)[1].text == "her  old bicycle"


def test_an_argument_without_a_line_has_no_phrase(path):
    path.write_text(LINES.split("\n")[1] + "\n", encoding="utf-8")
    [_, labeled] = with_phrase_file([EMPTY, SOLD], path)
    assert phrases(labeled) == [None, Phrase(2, 4), None]
    path.write_text("", encoding="utf-8")
    assert phrases(list(with_phrase_file([labeled], path))[0]) == [None] * 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\t2\tA0\t1\t1", r":1: expected 6 columns \(sentence, .*last word\), got 5"),
        ("\n1\t2\tA0\t0\t1\t1", ":2: expected head from 1, got '0'"),
        ("1\t2\tA0\tx\t1\t1", ":1: expected head from 1, got 'x'"),
        ("1\t2\tA0\t1\t1\t", ":1: expected last word from 1, got ''"),
        ("1\t2\tA0\t²\t1\t1", ":1: expected head from 1, got '²'"),
        ("1\t2\tA0\t3\t4\t5", ":1: expected a head from the first word 4 to the last 5, got 3"),
        (LINES + "1\t2\tA0\t1\t1\t1", ":4: expected sentences in order, got 1 after 2"),
        (LINES + "2\t2\tA0\t1\t1\t2", r":4: .*got A0 at word 1 of predicate 2 again, as at .*:1$"),
        ("2\t2\tA3\t1\t1\t1", ":1: .*got A3 at word 1 of predicate 2 in sentence 2, 'Mira sold"),
        ("2\t2\tA2\t7\t6\t9", ":1: expected a last word from 1 to 8, .*got 9"),
        ("4\t2\tA0\t1\t1\t1", ":1: expected a sentence from 1 to 3, .*got 4"),
    ],
)
def test_errors_name_file_and_line(path, text, message):
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"x\.spans\.tsv" + message):
        list(with_phrase_file([EMPTY, SOLD, EMPTY], path))


@pytest.mark.parametrize("corpus", ["a.b.conll09", "a.b.conll09.xz", "a.b.CONLL09.gz", "a.b"])
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_the_file_beside_a_corpus(tmp_path, corpus, suffix):
    name = "a" if corpus == "a.b" else "a.b"
    spans = tmp_path / f"{name}.spans.tsv{suffix}"
    assert phrase_file_of(tmp_path / corpus) is None
    opener = {"": open, ".gz": gzip.open, ".xz": lzma.open}[suffix]
    with opener(spans, "wt") as file:
        file.write(LINES)
    assert phrase_file_of(tmp_path / corpus) == phrase_file_of(str(tmp_path / corpus)) == spans
    assert len(list(read_phrases(spans))) == 3


def test_standard_input_has_no_file_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-.spans.tsv").write_text(LINES)
    assert phrase_file_of("-") is None


def test_written_as_read(path, tmp_path):
    labeled = list(with_phrase_file([EMPTY, SOLD], path))
    assert format_phrases(labeled[1], 2) == LINES
    assert write_sentences(labeled, tmp_path / "y.spans.tsv.xz") == 2
    assert list(with_phrase_file([EMPTY, SOLD], tmp_path / "y.spans.tsv.xz")) == labeled


@pytest.mark.parametrize("suffix", [".conll09", ".jsonl.gz"])
def test_the_phrases_of_an_older_corpus_are_not_read_with_a_new_one(path, tmp_path, suffix):
    corpus = tmp_path / f"x{suffix}"
    labeled = list(with_phrase_file([EMPTY, SOLD], path))
    write_sentences(labeled, corpus)  # these are its phrases
    [argument, *others] = SOLD.propositions[0].arguments
    other = replace(SOLD.propositions[0], arguments=(argument,))
    for sentences, message in (
        ([EMPTY, SOLD], "has other phrases than the sentences of .*x.*; remove it"),
        ([EMPTY, SOLD.with_propositions([other])], "expected an argument of the corpus"),
        ([EMPTY], "expected a sentence from 1 to 1"),
    ):
        with pytest.raises(DataError, match=rf"x\.spans\.tsv.*{message}"):
            write_sentences(sentences, corpus)
    assert len(list(read_sentences(corpus))) == 2


def test_roles_that_a_line_cannot_hold():
    odd = Sentence(("go",), (Proposition(0, None, (Argument("A\t0", 0, phrase=Phrase(0, 0)),)),))
    with pytest.raises(DataError, match=r"sentence 'go': expected roles without tabs .*'A\\t0'"):
        format_phrases(odd, 1)


@given(st.data())
def test_any_phrases_come_back(tmp_path_factory, data):
    n = 6
    words = st.integers(0, n - 1)
    sentences = []
    for _ in range(data.draw(st.integers(0, 3))):
        heads = data.draw(st.lists(words, unique=True))
        arguments = tuple(
            Argument(
                data.draw(st.sampled_from(["A0", "C-A1"])),
                head,
                phrase=Phrase(data.draw(st.integers(0, head)), data.draw(st.integers(head, n - 1))),
            )
            for head in heads
        )
        propositions = [
            Proposition(at, None, arguments) for at in sorted(data.draw(st.sets(words)))
        ]
        sentences.append(Sentence(tuple("abcdef"), tuple(propositions)))
    path = tmp_path_factory.mktemp("spans") / "x.spans.tsv"
    write_sentences(sentences, path)
    assert list(with_phrase_file(sentences, path)) == sentences


@pytest.mark.parametrize("name", ["en_ewt/dev", "en_ewt/test", "en_masc/ood"])
def test_real_files_have_every_argument(shared, name):
    corpus = shared / "data" / f"{name}.conll09.xz"
    path = phrase_file_of(corpus)
    sentences = list(with_phrase_file(read_sentences(corpus), path))
    assert all(phrase is not None for sentence in sentences for phrase in phrases(sentence))
    lines = "".join(format_phrases(sentence, n) for n, sentence in enumerate(sentences, start=1))
    with lzma.open(path, "rt", encoding="utf-8") as file:
        assert sorted(lines.splitlines()) == sorted(file.read().splitlines())
