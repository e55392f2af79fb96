"""Words as in chat and in headlines."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.text.reading import read_text
from teachers.noisy_words import Clean, make_casual, make_headline


def clean(text, *, predicates=(), arguments=()):
    """A sentence of words with tags (`word_TAG`); `predicates` and `arguments` name words."""
    words, tags = zip(*(word.rsplit("_", 1) for word in text.split()), strict=True)
    return Clean(
        list(words),
        list(tags),
        [word in predicates for word in words],
        [word in arguments for word in words],
    )


def casual_forms(sentence):
    """All that comes out of many seeds."""
    made = [make_casual(sentence, random.Random(seed)) for seed in range(300)]
    return {tuple(word for word in words if word is not None) for words in made}


def read_words(text):
    return tuple(word for sentence in read_text(text) for word in sentence.words)


@pytest.mark.parametrize(
    ("sentence", "typed"),
    [
        (clean("I_PRP do_VBP n't_RB know_VB ._."), "i dont know"),
        (clean("I_PRP 'm_VBP here_RB ,_, thanks_NN !_."), "im here thx"),
        (clean("I_PRP 'll_MD call_VB you_PRP ._.", arguments=("I", "'ll", "you")), "ill call u"),
        (clean("I_PRP 'll_MD leave_VB ._.", arguments=("I", "'ll")), "ill leave"),
        (clean("I’d_PRP go_VB".replace("I’d_PRP", "I_PRP ’d_MD")), "id go"),
        (clean("You_PRP 're_VBP late_JJ ._.", predicates=("'re",)), "youre late"),
        (clean("It_PRP 's_VBZ raining_VBG ._."), "its raining"),
        (clean("He_PRP ca_MD n't_RB come_VB"), "he cant come"),
        (clean("I_PRP am_VBP going_VBG to_TO sell_VB it_PRP"), "i am gonna sell it"),
        (clean("We_PRP want_VBP to_TO see_VB"), "we wanna see"),
        (clean("Anna_NNP 's_POS dog_NN barks_VBZ"), "annas dog barks"),
        (clean("My_PRP$ parents_NNS '_POS car_NN"), "my parents car"),
        (clean("She_PRP would_MD 've_VB gone_VBN"), "she wouldve gone"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_words_are_those_of_the_tokenizer(sentence, typed):
    assert read_words(typed) in casual_forms(sentence)


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        (clean("It_PRP 's_VBZ cold_JJ", predicates=("'s",)), "'s"),  # the predicate be.01
        (clean("You_PRP must_MD n't_RB go_VB", arguments=("n't",)), "n't"),
        (clean("The_DT boss_NN 's_POS car_NN"), "'s"),  # not "bosss"
        (clean("going_VBG to_IN town_NN"), "to"),
        (clean("a_DT ,_, b_NN", arguments=(",",)), ","),
    ],
    ids=["predicate", "negation", "boss's", "preposition", "argument"],
)
def test_what_is_never_left_out(sentence, kept):
    assert all(kept in words for words in casual_forms(sentence))


def test_typos_are_rare_and_near():
    sentence = clean("nobody_NN expected_VBD another_DT winter_NN morning_NN")
    made = [make_casual(sentence, random.Random(seed)) for seed in range(1000)]
    typos = [
        (old, new)
        for words in made
        for old, new in zip(sentence.words, words, strict=True)
        if old != new
    ]
    assert 100 < len(typos) < 300  # of 5,000 words
    assert {len(new) - len(old) for old, new in typos} == {-1, 0, 1}


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ("The_DT mayor_NN was_VBD accused_VBN of_IN lying_VBG ._.", "mayor accused of lying"),
        ("Apple_NNP will_MD open_VB a_DT store_NN ._.", "Apple to open store"),
        ("Two_CD men_NNS have_VBP been_VBN arrested_VBN ._.", "Two men arrested"),
        (
            "Roads_NNS are_VBP still_RB closed_JJ after_IN storm_NN",
            "Roads still closed after storm",
        ),
        ("The_DT bank_NN is_VBZ to_TO cut_VB a_DT few_JJ jobs_NNS", "bank to cut a few jobs"),
        ("The_DT pilots_NNS will_MD not_RB strike_VB ._.", "pilots will not strike"),
        ("The_DT mayor_NN is_VBZ a_DT lawyer_NN ._.", "mayor is lawyer"),
        ("The_DT vote_NN was_VBD n't_RB close_JJ ._.", "vote was n't close"),
        ("The_DT problem_NN is_VBZ that_IN it_PRP rains_VBZ", "problem is that it rains"),
        ("A_DT man_NN who_WP was_VBD killed_VBN", "man who was killed"),
    ],
)
def test_headlines(text, headline):
    assert [word for word in make_headline(clean(text)) if word] == headline.split()


@pytest.mark.parametrize(
    "text",
    [
        "Was_VBD the_DT mayor_NN accused_VBN ?_.",
        "The_DT mayor_NN called_VBD me_PRP ._.",
        "He_PRP closed_VBD the_DT door_NN ._.",
        "Close_VB the_DT door_NN now_RB ._.",
        "The_DT end_NN ._.",
    ],
)
def test_no_headline(text):
    sentence = clean(text)
    assert make_headline(sentence) == sentence.words


def test_arguments_stay_in_headlines():
    sentence = clean("Boys_NNS ate_VBD the_DT ._.", arguments=("the", "."))
    assert make_headline(sentence) == sentence.words


WORDS = st.sampled_from(
    "I you 'll n't 's ' ’s do going to want me let The the a is was will been has not Anna open "
    ", . ? shop winter é 3 ...".split()
)
TAGS = st.sampled_from("DT NN VBZ VB VBN MD RB JJ PRP IN TO . ,".split())
CLEAN = st.lists(st.tuples(WORDS, TAGS, st.booleans(), st.booleans()), min_size=1).map(
    lambda rows: Clean(*(list(column) for column in zip(*rows, strict=True)))
)


@given(CLEAN, st.integers(0, 9))
def test_any_words(sentence, seed):
    casual, headline = make_casual(sentence, random.Random(seed)), make_headline(sentence)
    for made in (casual, headline):
        assert len(made) == len(sentence.words)
        assert any(made)
        assert "" not in made
    for at, word in enumerate(casual):
        is_modal = sentence.words[at] == "'ll"
        assert word or not (sentence.predicates[at] or (sentence.arguments[at] and not is_modal))
    assert all(word or not arg for word, arg in zip(headline, sentence.arguments, strict=True))
