"""Hand-written frame files, and a parser for the sentences in them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pytest

from capsrl.errors import DataError
from capsrl.sentence import Argument, Proposition, Sentence
from corpora.content_heads import ParsedWords
from corpora.frame_examples import convert_frame_examples, read_frame_examples
from corpora.held_out import HeldOut
from tests.helpers.frame_files import example, roleset, write_frames

TAGS = {"the": "DT", "a": "DT", "in": "IN", "of": "IN", "off": "RP", "on": "IN", ".": "."}
VERBS = {"baked": "bake", "took": "take", "chaired": "chair", "knew": "know", "staged": "stag"}


def parse(sentences: Iterable[Sequence[str]]) -> Iterator[ParsedWords]:
    """Parse: the first verb is the root, the word after a preposition its object."""
    for words in sentences:
        tags = [TAGS.get(w.lower(), "VBD" if w in VERBS else "NN") for w in words]
        root = next((i for i, tag in enumerate(tags) if tag == "VBD"), 0)
        heads: list[int | None] = [None if i == root else root for i in range(len(words))]
        relations = ["dep"] * len(words)
        for i, tag in enumerate(tags):
            if tag == "IN" and i + 1 < len(words):
                relations[i], heads[i + 1], relations[i + 1] = "prep", i, "pobj"
            if tag == "DT" and i + 1 < len(words):
                heads[i], relations[i] = i + 1, "det"
        yield ParsedWords(
            words=tuple(words),
            lemmas=tuple(VERBS.get(word, word.lower()) for word in words),
            tags=tuple(tags),
            heads=tuple(heads),
            relations=tuple(relations),
            continues_name=(False,) * len(words),
        )


def convert(folder, *rolesets, **options):
    left_out = Counter()
    write_frames(folder, bake=rolesets)
    found = list(convert_frame_examples(folder, parse, left_out=left_out, **options))
    return found, left_out


BAKED = example("Ann baked the bread in June .", "1", ARG0="0 0", ARG1="2 3", ARGM_TMP="4 5")


def test_spans_become_heads(tmp_path):
    (sentence,), left_out = convert(tmp_path, roleset("bake.01", BAKED))
    assert sentence.words == ("Ann", "baked", "the", "bread", "in", "June", ".")
    assert sentence.lemmas[1] == "bake"
    assert sentence.heads == (1, None, 3, 1, 5, 1, 1)
    assert sentence.propositions == (
        Proposition(1, "bake.01", (Argument("A0", 0), Argument("A1", 3), Argument("AM-TMP", 5))),
    )
    assert not left_out


def test_examples_of_one_sentence_are_merged(tmp_path):
    text = "Ann knew who baked the bread ."
    known = example(text, "1", ARG0="0 0", ARG1="2 5")
    baked = example(text, "3", ARG0="2 2", ARG1="4 5")
    again = roleset("bake.02", baked)
    (sentence,), left_out = convert(
        tmp_path, roleset("know.01", known), roleset("bake.01", baked, baked), again
    )
    assert [(p.predicate, p.sense) for p in sentence.propositions] == [
        (1, "know.01"),
        (3, "bake.01"),
    ]
    assert left_out == {
        "examples that give a word the same sense": 1,
        "examples that give a word another sense": 1,
    }


def test_traces_and_escapes(tmp_path):
    text = "*PRO* `` Ann '' -LRB- she -RRB- [*T*-1] baked  one\\/two /."
    found = example(text, "8", ARG0="0 0", ARG1="10 10", ARGM_ADV="2 2")
    (sentence,), _ = convert(tmp_path, roleset("bake.01", found))
    assert sentence.words == ('"', "Ann", '"', "(", "she", ")", "baked", "one/two", ".")
    assert sentence.propositions == (
        Proposition(6, "bake.01", (Argument("AM-ADV", 1), Argument("A1", 7))),
    )


def test_arguments_without_a_position(tmp_path):
    trace = example("*trace* Ann baked .", "2", ARG0="? ? *trace*")
    named = example("Ann baked bread .", "1", ARG0="? ? Ann")
    twice = example("Ann said Ann baked .", "3", ARG0="? ? Ann")
    found, left_out = convert(tmp_path, roleset("bake.01", trace, named, twice))
    assert [sentence.propositions[0].arguments for sentence in found] == [(), (Argument("A0", 0),)]
    assert left_out == {"examples with an argument that is not located": 1}


@pytest.mark.parametrize(
    ("words", "places", "predicate", "particle"),
    [
        ("Ann took off", "1 2", 1, None),  # beside the verb
        ("Ann took it off", "1 3", 1, 3),
        ("She chaired co - chaired it", "2 4", 4, None),  # joined by a hyphen
        ("off she took", "0 2", 2, 0),
    ],
)
def test_predicates_of_several_words(tmp_path, words, places, predicate, particle):
    sense = "cochair.01" if "co" in words.split() else "take_off.05"
    (sentence,), _ = convert(tmp_path, roleset(sense, example(words, places)))
    roles = () if particle is None else (Argument("C-V", particle),)
    assert sentence.propositions == (Proposition(predicate, sense, roles),)


def test_wrong_lemmas_are_replaced_by_aliases(tmp_path):
    (sentence,), _ = convert(
        tmp_path, roleset("stage.01", example("We staged it", "1"), aliases=["stage", "staging"])
    )
    assert sentence.lemmas[1] == "stage"


def test_role_names(tmp_path):
    found = example("Ann baked bread a while", "1", C_ARG1="0 0", ARGM_PNC="2 2", C_ARGM_PNC="3 4")
    (sentence,), _ = convert(tmp_path, roleset("bake.01", found))
    assert [a.role for a in sentence.propositions[0].arguments] == ["C-A1", "AM-PRP", "C-AM-PRP"]


@pytest.mark.parametrize(
    ("sense", "found", "reason"),
    [
        ("be.03", example("Ann was here", "1"), "examples of auxiliaries"),
        (
            "bake.101",
            example("Ann baked", "1"),
            "examples of clinical or unnumbered rolesets",
        ),
        ("bake.01", "<example><text>Ann baked</text></example>", "examples without one predicate"),
        ("bake.01", example("Ann baked", "?"), "examples whose predicate is not located"),
        (
            "bake.01",
            example("Ann baked", "1").replace(">baked<", ">bakes<"),
            "examples whose predicate is elsewhere than their text",
        ),
        (
            "bake.01",
            example("Ann baked", "7"),
            "examples whose predicate is elsewhere than their text",
        ),
        (
            "bake.01",
            example("Ann baked", "1", ARG0="0 0").replace(">Ann<", ">Bob<"),
            "examples whose argument is elsewhere than their text",
        ),
        (
            "bake.01",
            example("Ann baked bread", "1", ARG1="1 2"),
            "examples with an argument over the predicate",
        ),
        (
            "bake.01",
            example("who-1 *T*-1 baked it", "2"),
            "examples with indices of traces or escapes in their words",
        ),
        (
            "bake.01",
            example("Ann bak\\u00e9 it", "0"),
            "examples with indices of traces or escapes in their words",
        ),
        ("on.01", example("It was on", "2"), "examples whose predicate is not a verb, noun or "),
    ],
)
def test_what_is_left_out(tmp_path, sense, found, reason):
    sentences, left_out = convert(
        tmp_path, roleset(sense, found), roleset("bake.02", example("We baked", "1"))
    )
    assert [sentence.propositions[0].sense for sentence in sentences] == ["bake.02"]
    ((got, n),) = left_out.items()
    assert (got[: len(reason)], n) == (reason, 1)


def test_words_that_look_like_indices(tmp_path):
    (sentence,), _ = convert(tmp_path, roleset("bake.01", example("B-2 baked [ it ]", "1")))
    assert sentence.words == ("B-2", "baked", "[", "it", "]")


def test_held_out_examples(tmp_path):
    held_out = HeldOut([Sentence(("ANN", "baked", "."))])
    found, left_out = convert(
        tmp_path,
        roleset("bake.01", example("Ann baked .", "1"), example("Bob baked .", "1")),
        held_out=held_out,
    )
    assert [sentence.words[0] for sentence in found] == ["Bob"]
    assert left_out == {"examples that overlap held-out sentences": 1}


def test_a_file_that_is_not_xml_is_named_and_counted(tmp_path):
    (tmp_path / "broken.xml").write_text("<frameset><predicate></frameset>")
    with pytest.warns(UserWarning, match=r"broken.xml:1: expected XML, .*; it is skipped"):
        found, left_out = convert(tmp_path, roleset("bake.01", BAKED))
    assert len(found) == 1
    assert left_out == {"files that are not XML": 1}


def test_folders_without_examples(tmp_path):
    with pytest.raises(
        DataError, match=r"expected a folder with PropBank frame files \(\*.xml\), got none; in p"
    ):
        list(read_frame_examples(tmp_path, left_out=Counter()))
    with pytest.raises(DataError, match=r"has no frame files with examples$"):
        convert(tmp_path, roleset("bake.01"))
