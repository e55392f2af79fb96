"""Soft labels of noisy sentences."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.train.soft_labels import SoftLabels, SparseProbs
from teachers.noise import NO_NOISE, Noise, add_noise
from tests.train.test_soft_labels import assert_same

TAGS = "DT NN VBZ VB VBN MD RB JJ PRP IN TO . ,".split()
ROLES = ("_", "A0", "A1", "A2", "AM-MOD")


def sparse(entries):
    """Entries (owner, word, class, probability) in any order."""
    owners, words, ids, probs = zip(*sorted(entries), strict=True) if entries else [()] * 4
    return SparseProbs(
        np.array(owners, np.int32),
        np.array(words, np.int16),
        np.array(ids, np.int16),
        np.array(probs, np.float16),
    )


def labels_of(*sentences):
    """Soft labels of sentences; each has words (`word_TAG`) and its propositions.

    A proposition has the position of its predicate and {word: (role, first, last)}.
    """
    words, tags, rows = [], [], {"roles.0": [], "firsts": [], "lasts": []}
    lemmas, positions, counts, probs = [], [], [], []
    for number, (text, propositions) in enumerate(sentences):
        pairs = [word.rsplit("_", 1) for word in text.split()]
        words.append([word for word, _ in pairs])
        tags += [(number, at, TAGS.index(tag), 1.0) for at, (_, tag) in enumerate(pairs)]
        probs += [float(at in propositions) for at in range(len(pairs))]
        counts.append(len(propositions))
        for position, arguments in sorted(propositions.items()):
            for word, (role, first, last) in arguments.items():
                rows["roles.0"].append((len(lemmas), word, ROLES.index(role), 0.9))
                rows["firsts"].append((len(lemmas), word, first, 0.75))
                rows["lasts"].append((len(lemmas), word, last, 0.75))
                for name, other in (("firsts", first + 1), ("lasts", last - 1)):
                    if 0 <= other < len(pairs):
                        rows[name].append((len(lemmas), word, other, 0.125))
            lemmas.append(words[-1][position].lower())
            positions.append(position)
    senses = [(number, 0, 0, 0.5) for number in range(len(lemmas))]
    return SoftLabels(
        words=words,
        lemmas=lemmas,
        lengths=np.array([len(each) + 2 for each in words], np.int32),
        predicate_probs=np.array(probs, np.float16),
        n_predicates=np.array(counts, np.int32),
        positions=np.array(positions, np.int32),
        sparse={
            "tags": sparse(tags),
            "senses": sparse(senses),
            "patterns": sparse(senses),
            **{name: sparse(entries) for name, entries in rows.items()},
        },
    )


def noisy(labels, *, seed=1, **shares):
    return add_noise(
        labels,
        Noise(**shares),
        seed=seed,
        tags=TAGS,
        find_lemma=lambda word, tag: word.lower(),
        length_of=lambda words: len(words) + 2,
    )


def entries(labels, name):
    part = labels.sparse[name]
    columns = (part.owners, part.words, part.ids, part.probs)
    return list(zip(*(column.tolist() for column in columns), strict=True))


MAYOR = (
    "The_DT mayor_NN was_VBZ ill_JJ ,_, Anna_NN will_MD open_VB a_DT store_NN ._.",
    {
        2: {1: ("A1", 0, 1), 3: ("A2", 3, 3)},
        7: {1: ("A2", 0, 1), 5: ("A0", 5, 5), 6: ("AM-MOD", 6, 6), 9: ("A1", 8, 9)},
    },
)
RAIN = ("It_PRP rains_VBZ", {1: {}})


def test_headline():
    """Articles, a modal and a copula with its proposition are left out; phrases shrink."""
    made = noisy(labels_of(MAYOR, RAIN), headlines=1.0)
    assert made.words == [["mayor", "ill", ",", "Anna", "to", "open", "store"], ["It", "rains"]]
    assert made.lemmas == ["open", "rains"]
    assert made.n_predicates.tolist() == [1, 1]
    assert made.positions.tolist() == [5, 1]
    assert made.lengths.tolist() == [9, 4]
    assert made.predicate_probs.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 1]
    assert [(word, ROLES[id]) for _, word, id, _ in entries(made, "roles.0")] == [
        (0, "A2"),
        (3, "A0"),
        (6, "A1"),
    ]
    # *The mayor* begins with *mayor*: the probabilities of both beginnings are added.
    assert entries(made, "firsts")[:1] == [(0, 0, 0, 0.875)]
    assert entries(made, "lasts")[-2:] == [(0, 6, 5, 0.125), (0, 6, 6, 0.75)]
    tags = [TAGS[id] for owner, _, id, _ in entries(made, "tags") if owner == 0]
    assert tags == ["NN", "JJ", ",", "NN", "TO", "VB", "NN"]
    assert [entry[0] for entry in entries(made, "senses")] == [0, 1]


def test_casual():
    """*ill thank you* has the roles of *I*, *thank* and *you*."""
    thank = (
        "I_PRP 'll_MD thank_VB you_PRP ,_, Anna_NN ._.",
        {2: {0: ("A0", 0, 0), 1: ("AM-MOD", 1, 1), 3: ("A1", 3, 3)}},
    )
    results = [noisy(labels_of(thank), casual=1.0, seed=seed) for seed in range(100)]
    (made,) = [one for one in results if one.words == [["ill", "thank", "u", "anna"]]][:1]
    assert made.positions.tolist() == [1]
    assert [entry[:3] for entry in entries(made, "roles.0")] == [(0, 0, 1), (0, 2, 2)]
    assert [TAGS[id] for _, _, id, _ in entries(made, "tags")] == ["PRP", "VB", "PRP", "NN"]
    assert made.lengths.tolist() == [6]


def test_a_misspelled_predicate_has_no_senses():
    arrive = ("trains_NN arrive_VB", {1: {0: ("A1", 0, 0)}})
    results = [noisy(labels_of(arrive, RAIN), casual=1.0, seed=seed) for seed in range(100)]
    changed = [one for one in results if one.words[0][1] != "arrive"]
    assert changed
    for made in changed:
        assert made.lemmas[0] == made.words[0][1]
        assert [entry[0] for entry in entries(made, "senses")] == (
            [1] if made.lemmas[1] == "rains" else []
        )
        assert [entry[0] for entry in entries(made, "patterns")] == [0, 1]
        assert [entry[:3] for entry in entries(made, "roles.0")] == [(0, 0, ROLES.index("A1"))]


def test_shares():
    labels = labels_of(*[("I_PRP do_VB n't_RB ,_, now_RB ._.", {})] * 1000)
    made = noisy(labels, casual=0.2)
    n_changed = sum(old != new for old, new in zip(labels.words, made.words, strict=True))
    assert 150 < n_changed < 250


def test_without_noise_nothing_changes():
    labels = labels_of(MAYOR, RAIN)
    assert noisy(labels) is labels
    assert NO_NOISE == Noise(0, 0)


def test_without_a_tagger_there_are_no_headlines():
    labels = labels_of(MAYOR)
    untagged = {name: part for name, part in labels.sparse.items() if name != "tags"}
    labels = dataclasses.replace(labels, sparse=untagged)
    made = noisy(labels, headlines=1.0)
    assert made.words == [labels.words[0][:-1]]  # only the full stop is left out


WORDS = st.sampled_from(
    "I_PRP 'll_MD do_VB n't_RB Anna_NN 's_VBZ the_DT The_DT was_VBZ will_MD been_VBN has_VBZ "
    "going_VB to_TO open_VB open_VBN winter_NN ,_, ._.".split()
)


@st.composite
def some_labels(draw):
    sentences = []
    for _ in range(draw(st.integers(1, 4))):
        words = draw(st.lists(WORDS, min_size=1, max_size=9))
        places = st.integers(0, len(words) - 1)
        argument = st.tuples(st.sampled_from(ROLES[1:]), places, places)
        arguments = st.dictionaries(places, argument, max_size=3)
        sentences.append((" ".join(words), draw(st.dictionaries(places, arguments, max_size=3))))
    return labels_of(*sentences)


@given(some_labels(), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0]))
def test_any_labels_stay_consistent(labels, seed, casual):
    made = noisy(labels, seed=seed, casual=casual, headlines=1 - casual)
    assert_same(made, noisy(labels, seed=seed, casual=casual, headlines=1 - casual))
    n_words = np.array([len(words) for words in made.words])
    assert n_words.min() > 0
    assert len(made) == len(labels) == len(made.n_predicates)
    assert made.lengths.tolist() == (n_words + 2).tolist()
    assert len(made.predicate_probs) == n_words.sum()
    assert made.n_predicates.sum() == len(made.positions) == len(made.lemmas)
    sentences = np.repeat(np.arange(len(made)), made.n_predicates)
    assert (made.positions < n_words[sentences]).all()
    # Every predicate is at a word with probability 1.
    starts = np.cumsum([0, *n_words[:-1]])
    assert (made.predicate_probs[starts[sentences] + made.positions] == 1).all()
    for name, part in made.sparse.items():
        owners = np.arange(len(made)) if name == "tags" else sentences
        assert (np.diff(part.owners) >= 0).all()
        assert part.owners.max(initial=-1) < len(owners)
        limits = n_words[owners[part.owners]]
        assert ((part.words >= 0) & (part.words < limits)).all()
        if name in ("firsts", "lasts"):
            assert ((part.ids >= 0) & (part.ids < limits)).all()
        keys = [entry[:3] for entry in entries(made, name)]
        assert keys == sorted(set(keys))
        before = labels.sparse[name]
        assert all(
            getattr(part, field.name).dtype == getattr(before, field.name).dtype
            for field in dataclasses.fields(part)
        )
    assert len(made.sparse["tags"].owners) == n_words.sum()


@given(some_labels())
def test_labels_without_noise_are_the_same(labels):
    assert noisy(labels) is labels


@pytest.mark.parametrize("name", ["firsts", "lasts"])
def test_probabilities_of_phrases_are_kept(name):
    """Leaving words out moves the ends of phrases and loses no probability."""
    labels = labels_of(MAYOR)
    made = noisy(labels, headlines=1.0)
    for word, new in ((1, 0), (5, 3), (9, 6)):  # the arguments of *open*
        old = sum(e[3] for e in entries(labels, name) if e[:2] == (1, word))
        assert sum(e[3] for e in entries(made, name) if e[:2] == (0, new)) == old
