"""Raw text to propositions with the model that ships: every way gives the same, nothing breaks."""

import dataclasses
import itertools
import random

import numpy as np
import pandas
import polars
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import capsrl
from capsrl.errors import ConfigError, DataError, ModelError
from capsrl.formats.jsonl import sentence_from_dict
from capsrl.sentence import Sentence
from capsrl.show.formatting import role_histories
from capsrl.text.sentences import MAX_WORDS, read_text, split_text
from tests.helpers.tiny_sentences import assert_same_answers

TEXT = "Hiti signed the contract yesterday. His decision to leave was sudden :-) 😀"
TEXTS = [
    TEXT,
    "",
    "Dogs bark.",
    " \n\t",
    "The old man who had sold the farm gave his dog to the neighbour, and then he left town.",
    "",
]


@pytest.fixture
def tiny_labeler():
    """An untrained model, which torch runs."""
    pytest.importorskip("torch")
    from tests.helpers.tiny_networks import make_labeler

    return make_labeler()


def check_offsets(text: str, sentences: list[Sentence]) -> None:
    """Everything that stands in a text stands where it says."""
    for sentence in sentences:
        shift, (first, last) = sentence.start, sentence.extent
        assert sentence.text == text[first + shift : last + shift]
        assert len(sentence.offsets) == len(sentence.words)
        for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
            assert text[start + shift : end + shift] == word != ""
        for proposition in sentence.propositions:
            parts = [(proposition, proposition.predicate)]
            parts += [(argument, argument.word) for argument in proposition.arguments]
            for part, position in parts:
                assert (part.start, part.end) == sentence.offsets[position]
                assert 0 < part.probability <= 1
    ends = [
        end + sentence.start
        for sentence in sentences
        for offsets in sentence.offsets
        for end in offsets
    ]
    assert ends == sorted(ends)


def roles(sentence: Sentence, number: int = 0) -> dict[str, str]:
    arguments = sentence.propositions[number].arguments
    return {argument.role: sentence.words[argument.word] for argument in arguments}


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("She <b>sold</b> it", "She sold it"),
        ("<p>Ben &amp; Anna&#39;s&nbsp;cat<br>\nslept.<p>Go!", "Ben & Anna's cat slept.\n\nGo!"),
        ("<td>Dogs <a href='#'>bark</a>.</td><script>x.y()</script>", "Dogs bark."),
    ],
)
def test_html_is_labeled_like_its_text(labeler, html, text):
    ours = labeler.label(html, html=True)
    theirs = labeler.label(text)
    assert [s.words for s in ours] == [s.words for s in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.text in html
        assert mine.tags == other.tags
        assert [p.sense for p in mine.propositions] == [p.sense for p in other.propositions]
        for one, two in zip(mine.propositions, other.propositions, strict=True):
            assert [(a.role, a.form) for a in one.arguments] == [
                (a.role, a.form) for a in two.arguments
            ]
            assert mine.text[one.start : one.end] == one.form


def test_layouts_of_many_texts(labeler):
    texts = ["Dogs <i>bark</i>. Cats sleep.\nGo!", "", "R&amp;D failed."]
    options = {"html": True, "one_sentence_per_line": True}
    many = list(labeler.label_many(texts, **options))
    assert [len(each) for each in many] == [2, 0, 1]
    assert many == labeler.label(texts, **options)
    assert_same_answers(many[0], labeler.label(texts[0], **options))
    [sentence] = labeler.label(texts[2], html=True, at=[2])  # inside of &amp;
    assert sentence.predicates == (0,)


def test_who_did_what(labeler):
    first, second = labeler.label(TEXT)
    check_offsets(TEXT, [first, second])
    (signed,) = first.propositions
    assert signed.sense.startswith("sign.")
    assert TEXT[signed.start : signed.end] == "signed"
    assert roles(first) == {"A0": "Hiti", "A1": "contract", "AM-TMP": "yesterday"}
    assert first.tags == ("NNP", "VBD", "DT", "NN", "NN", ".")
    decision = second.propositions[0]
    assert (second.words[decision.predicate], decision.sense) == ("decision", "decide.01")
    assert roles(second) == {"A0": "His", "A1": "leave"}
    assert second.words[-2:] == (":-)", "😀")


def test_every_way_gives_the_same(labeler):
    alone = [labeler.label(text) for text in TEXTS]
    assert [len(sentences) for sentences in alone] == [2, 0, 1, 0, 1, 0]
    together = list(labeler.label_many(TEXTS))
    assert [len(sentences) for sentences in together] == [2, 0, 1, 0, 1, 0]
    split = [sentence.standalone() for text in TEXTS for sentence in split_text(text)]
    labeled = list(labeler.label_sentences(split, predicates="found"))
    flat = [sentence for sentences in alone for sentence in sentences]
    assert any(sentence.propositions for sentence in flat)
    assert_same_answers(list(itertools.chain(*together)), flat)
    assert_same_answers(labeled, flat)
    one_by_one = labeler.label_sentences(split, predicates="found", batch_size=1)
    assert_same_answers(list(one_by_one), flat)
    for text, sentences in zip(TEXTS, together, strict=True):
        check_offsets(text, sentences)


def test_many_texts_stream(tiny_labeler):
    """An endless stream is answered as it comes, in its order."""
    read = 0

    def texts():
        nonlocal read
        for read in itertools.count(1):
            yield "" if read % 2 else f"Dog {read} barks."

    answers = list(itertools.islice(tiny_labeler.label_many(texts()), 6))
    assert [len(sentences) for sentences in answers] == [0, 1, 0, 1, 0, 1]
    assert answers[5][0].words == ("Dog", "6", "barks", ".")
    assert read < 10_000


def test_no_texts_no_answers(labeler):
    assert list(labeler.label_many([])) == []
    assert list(labeler.label_many(["", " "])) == [[], []]


def test_words_of_a_sentence(labeler):
    (labeled,) = labeler.label(Sentence(["Dogs", "bark", "."]))
    (from_text,) = labeler.label("Dogs bark.")
    assert labeled.text is labeled.offsets is labeled.propositions[0].start is None
    placed = dataclasses.replace(labeled, text=from_text.text, offsets=from_text.offsets, start=0)
    assert placed.with_propositions(labeled.propositions) == from_text
    assert labeler.label(Sentence(())) == [Sentence(())]
    assert labeler.label([]) == []


@pytest.mark.parametrize("words", [["Dogs", ""], ["Dogs", None], ["Dogs", 3]])
def test_words_must_be_strings(labeler, words):
    with pytest.raises(DataError, match=f"text: expected words that are.*, got {words[1]!r} as"):
        labeler.label(Sentence(words))


def test_a_list_of_strings_is_several_texts(labeler):
    answers = labeler.label(TEXTS)
    assert [len(sentences) for sentences in answers] == [2, 0, 1, 0, 1, 0]
    alone = [sentence for text in TEXTS for sentence in labeler.label(text)]
    assert_same_answers(list(itertools.chain(*answers)), alone)
    mixed = labeler.label(["Dogs bark.", Sentence(("Cats", "sleep"))])
    assert [sentence.words for (sentence,) in mixed] == [("Dogs", "bark", "."), ("Cats", "sleep")]


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_text_is_named_by_its_position(labeler, missing):
    answers = labeler.label_many(["Dogs bark.", "Cats sleep.", missing, "Go."])
    assert len([next(answers), next(answers)]) == 2  # what came before it is not lost
    with pytest.raises(DataError, match=f"text 2: expected a string.*, got {missing}; leave out"):
        next(answers)
    answers = labeler.label_many(["Dogs bark.", missing, "Go."], missing="empty")
    assert [len(sentences) for sentences in answers] == [1, 0, 1]
    pairs = labeler.label_many([("a", missing), ("b", "Go.")], as_tuples=True, missing="empty")
    assert [(key, len(sentences)) for key, sentences in pairs] == [("a", 0), ("b", 1)]
    with pytest.raises(ConfigError, match="missing: expected 'error' or 'empty', got 'skip'"):
        labeler.label_many([], missing="skip")
    with pytest.raises(DataError, match="texts: one text was given"):
        labeler.label_many("Dogs bark.")


@pytest.mark.parametrize("text", [5, b"Dogs bark.", {"a": "Dogs bark."}, None])
def test_a_text_must_be_text(labeler, text):
    with pytest.raises(DataError, match=r"text: expected a string, a Sentence or several of them"):
        labeler.label(text)
    with pytest.raises(DataError, match=r"texts: expected several texts, got "):
        labeler.label_many(text)


@pytest.mark.parametrize("library", [pandas, polars])
def test_of_a_frame_one_column_is_labeled(labeler, library):
    frame = library.DataFrame({"review": ["Dogs bark.", "Go."]})
    fix = r'got a DataFrame; give one column: frame\["review"\]$'
    with pytest.raises(DataError, match=rf"^text: expected a string, .* several of them, {fix}"):
        labeler.label(frame)
    with pytest.raises(DataError, match=rf"^texts: expected several texts, {fix}"):
        labeler.label_many(frame)
    assert labeler.label(frame["review"]) == labeler.label(["Dogs bark.", "Go."])
    row = pandas.Series({"columns": "Dogs bark."})
    assert labeler.label(row) == labeler.label(["Dogs bark."])


def test_wrong_arguments_are_named(labeler):
    with pytest.raises(DataError, match="at: expected a list of positions, got 5"):
        labeler.label("Dogs bark.", at=5)
    with pytest.raises(
        DataError, match=r"expected Sentences, got 'Dogs bark.'; label\(\) takes raw"
    ):
        list(labeler.label_sentences(["Dogs bark."]))


def test_pairs_of_id_and_text(labeler):
    pairs = [(7, TEXT), ("empty", ""), (None, "Dogs bark.")]
    answers = list(labeler.label_many(pairs, as_tuples=True))
    found = [(key, len(sentences)) for key, sentences in answers]
    assert found == [(7, 2), ("empty", 0), (None, 1)]
    assert_same_answers(answers[0][1], labeler.label(TEXT))
    with pytest.raises(DataError, match=r"text 0: expected a pair \(id, text\), got 'Dogs bark.'"):
        list(labeler.label_many(["Dogs bark."], as_tuples=True))


def test_progress_is_shown_on_stderr(labeler, capsys):
    assert list(labeler.label_many(TEXTS, progress=True)) == list(labeler.label_many(TEXTS))
    shown = capsys.readouterr()
    assert "texts" in shown.err and shown.out == ""


def test_predicates_where_they_are_said_to_be(labeler):
    text = "Dogs bark. Cats hate barking dogs."
    first, second = labeler.label(text, at=[text.index("hate") + 2])
    assert first.predicates == ()
    assert second.predicates == (1,)
    check_offsets(text, [first, second])
    (sentence,) = labeler.label(Sentence(["Cats", "hate", "barking", "dogs"]), at=[2, 1])
    assert sentence.predicates == (1, 2)
    assert labeler.label("", at=[]) == []


def test_no_predicate_stands_between_words(labeler):
    with pytest.raises(ValueError, match="expected an offset inside a word, got 4"):
        labeler.label("Dogs bark.", at=[4, 5, 99])
    with pytest.raises(ValueError, match="expected the position of a word, got 2"):
        labeler.label(Sentence(["Dogs", "bark"]), at=[2])
    with pytest.raises(ValueError, match="expected the position of a word, got -1"):
        labeler.label(Sentence(["Dogs", "bark"]), at=[-1])
    with pytest.raises(ValueError, match="at: works with one text only"):
        labeler.label(["Dogs bark."], at=[5])


def test_parts_of_speech(labeler):
    found = {
        kind: [
            sentence.words[position]
            for sentence in labeler.label(f"{TEXT} She is happy.", pos=[kind])
            for position in sentence.predicates
        ]
        for kind in ("verb", "noun", "adjective")
    }
    assert found == {
        "verb": ["signed", "leave", "was", "is"],
        "noun": ["decision"],
        "adjective": ["sudden", "happy"],
    }
    everything = labeler.label(TEXT, pos=["verb", "noun", "adjective"])
    assert everything == labeler.label(TEXT)
    with pytest.raises(ConfigError, match="pos: expected some of verb, noun, adj.*, got \\[\\]"):
        labeler.label(TEXT, pos=[])


def test_parts_of_speech_need_tags(tiny_labeler):
    with pytest.raises(ConfigError, match="pos: predicates are selected by the tags of words"):
        tiny_labeler.label("Dogs bark.", pos=["verb"])


def test_threshold(labeler):
    def probabilities(threshold):
        return [
            argument.probability
            for sentence in labeler.label(TEXTS[4], threshold=threshold)
            for proposition in sentence.propositions
            for argument in proposition.arguments
        ]

    everything = probabilities(0.0)
    middle = sorted(everything)[len(everything) // 2]
    assert probabilities(middle) == [each for each in everything if each >= middle]
    assert min(everything) < middle
    assert max(probabilities(1.0), default=1.0) == 1.0


def test_iterations_and_trace(labeler):
    n_trained = labeler.config.capsules.iterations
    for asked in (None, 1, 4):
        sentences = labeler.label(TEXT, iterations=asked, trace=True, uncalibrated=True)
        for sentence in sentences:
            for proposition in sentence.propositions:
                trace = proposition.trace
                n_steps = (asked or n_trained) + 1
                assert trace.beliefs.shape == (n_steps, len(sentence), len(trace.roles))
                np.testing.assert_allclose(trace.beliefs.sum(-1), 1, atol=1e-5)
                assert trace.capsules.shape[0] == trace.nodes.shape[0] == n_steps - 1
                for argument in proposition.arguments:
                    role = trace.roles.index(argument.role)
                    believed = trace.beliefs[-1, argument.word, role]
                    assert believed == pytest.approx(argument.probability, abs=1e-6)
                kept = [
                    (each.word, each.role) for each in role_histories(proposition) if each.argument
                ]
                assert kept == [(each.word, each.role) for each in proposition.arguments]
    assert labeler.label(TEXT, iterations=n_trained) == labeler.label(TEXT)
    assert labeler.label(TEXT)[0].propositions[0].trace is None
    with pytest.raises(ValueError, match="iterations: expected an integer from 1 to 100, got 0"):
        labeler.label(TEXT, iterations=0)


# Scripts, joined emoji, marks, surrogates, controls, and what means something to the splitter.
PIECES = st.sampled_from(
    "Dogs bark|bark|signed the|.|! |?\n|\n\n|\r\n|\x00|\x1b[31m|\t|\ud800|\udfff|\ud83d\ude00|"
    "👩‍👩‍👧|🇩🇪|é|é|漢字|かな|мир|שלום|سلام|हिन्दी|ไทย|\u200b|\u200d|\ufe0f|\u202e|\ufeff|\u2028|"
    "\U000e0001|\U0010ffff|\ufffe|ﷺ|İ|ß|Mr.|don't|a@b.co|http://x.y/z|:-)|$5m|--|...|'s|_|1,2".split(
        "|"
    )
)
ANY_TEXT = st.lists(PIECES | st.text(st.characters(codec=None), max_size=8), max_size=20).map(
    "".join
)


@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(ANY_TEXT)
@example("")
@example(" \t\r\n")
@example("😀")
@example("\ud800")
@example("\udc80 barked at \ud83d\ude00 loudly")  # a pair in two halves is no emoji
@example("\x00\x01 The dog\x02 barked.\x7f")
@example("\u200b\u200d\ufe0f")
@example("\u0301")  # an accent on nothing
def test_any_text_has_an_answer_with_exact_offsets(labeler, text):
    labeled = labeler.label(text)
    check_offsets(text, labeled)
    assert [sentence.words for sentence in labeled] == [s.words for s in read_text(text)]
    for sentence in labeled:
        assert sentence_from_dict(sentence.to_dict()) == sentence
        check_offsets(sentence.text, [dataclasses.replace(sentence, start=0)])
        sentence.to_json().encode()
        sentence._repr_html_().encode()


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(st.characters(codec=None), min_size=1, max_size=6), max_size=6))
@example([" ", "\n", "a b", "\ud800"])
def test_any_words_have_an_answer(labeler, words):
    (sentence,) = labeler.label(Sentence(words))
    assert list(sentence.words) == words


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\x00", "\u200b", "\ufeff"])
def test_blank_text_has_no_sentences(labeler, text):
    assert labeler.label(text) == []


def test_one_emoji_is_a_word_and_no_predicate(labeler):
    (sentence,) = labeler.label("👩‍👩‍👧")
    assert (sentence.words, sentence.offsets) == (("👩‍👩‍👧",), ((0, 5),))
    assert sentence.propositions == ()


@pytest.mark.parametrize("letters", ["a", "ب", "\ud800", "a.", "http://b/,", "\u0301", "----"])
def test_a_word_of_100_000_letters(labeler, letters):
    text = f"Dogs {letters * (100_000 // len(letters))} bark."
    (sentence,) = labeler.label(text)
    check_offsets(text, [sentence])
    assert max(map(len, sentence.words)) > 99_000


def test_of_a_very_long_word_only_the_beginning_is_read(labeler):
    """Else a word could fill hundreds of windows of the encoder, and the memory."""
    n_pieces = [
        labeler.backend.index(Sentence(("Dogs", "a." * n))).length for n in (60, 64, 50_000)
    ]
    assert n_pieces == [1 + 120, 1 + 128, 1 + 128]


def test_10_000_words_without_a_full_stop(labeler):
    rng = random.Random(0)
    words = rng.choices("dogs bark and the old man signed a contract that we saw".split(), k=10_000)
    text = " ".join(words)
    sentences = labeler.label(text, pos=["noun"])
    check_offsets(text, sentences)
    assert [word for sentence in sentences for word in sentence.words] == words
    assert max(map(len, sentences)) <= MAX_WORDS


def test_a_megabyte_of_blanks_and_a_few_words(labeler):
    text = (" " * 9_000 + "Dogs bark.\n" + "\x00\u200b" * 500) * 100
    assert len(text) > 1_000_000
    sentences = labeler.label(text)
    assert len(sentences) == 100
    check_offsets(text, sentences)
    assert {sentence.words for sentence in sentences} == {("Dogs", "bark", ".")}
    assert all(sentence.predicates == (1,) for sentence in sentences)


@pytest.mark.slow
def test_a_megabyte_of_prose(labeler):
    rng = random.Random(0)
    words = "dogs bark and the old man signed a contract that we saw . We left ? Why , then".split()
    text = " ".join(rng.choices(words, k=250_000))
    assert len(text) > 1_000_000
    check_offsets(text, labeler.label(text))


def test_a_model_that_is_neither_a_folder_nor_a_name(tmp_path):
    with pytest.raises(ModelError, match=r"^xx: not a model folder, nor the name .*\(en\)$"):
        capsrl.load("xx")
    with pytest.raises(ModelError, match="absent: not a model folder, nor the name"):
        capsrl.load(tmp_path / "absent")


def test_names_of_models_are_no_paths(tiny_labeler, tmp_path, monkeypatch):
    tiny_labeler.save(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    assert capsrl.load(".").config == tiny_labeler.config
