import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.align import align_tags

TAGS = st.lists(st.sampled_from(["NN", "VB", "GW", "HYPH"]), max_size=8)


@pytest.mark.parametrize(
    ("old", "new", "partners"),
    [
        ("DT NN VBZ", "DT NN VBZ", [[0], [1], [2]]),
        ("DT NN VB", "DT NNP VBZ", [[0], [1], [2]]),  # corrected tags
        ("RB NNP VBG", "RB PRP VBP VBG", [[0], [1, 2], [3]]),  # Im -> I m
        ("CD NN", "CD HYPH CD NN", [[0, 1, 2], [3]]),  # 2/3 -> 2 / 3
        ("PRP VBZ NN .", "PRP$ NN .", [[0], [0], [1], [2]]),  # it 's -> it's
        ("NN GW HYPH WRB PRP", "NN WRB PRP", [[0], [1], [1], [1], [2]]),  # where - ever
        ("WDT GW RB VBZ", "WDT RB VBZ", [[0], [1], [1], [2]]),
        # the s difference between a modern m16 -> thes difference between a modern m 16
        ("WP DT VBZ NN IN DT JJ NN CC", "WP DT NN IN DT JJ NN CD CC",
         [[0], [1], [1], [2], [3], [4], [5], [6, 7], [8]]),
        # A shift that mends only two tags is not worth two moved words.
        ("DT VBZ NN IN", "DT NN IN IN", [[0], [1], [2], [3]]),
        ("NN", "", [[]]),
        ("", "NN", []),
    ],
)  # fmt: skip
def test_words_and_what_became_of_them(old, new, partners):
    assert align_tags(old.split(), new.split()) == partners


@given(TAGS, TAGS)
def test_every_word_has_a_partner_and_none_cross(old, new):
    partners = align_tags(old, new)
    assert len(partners) == len(old)
    if not old or not new:
        assert not any(partners)
        return
    flat = [word for found in partners for word in found]
    assert all(partners) and flat == sorted(flat) and set(flat) == set(range(len(new)))
    if old == new:
        assert partners == [[word] for word in range(len(old))]


@given(TAGS, TAGS)
def test_no_walk_is_cheaper(old, new):
    if not old or not new:
        return

    def cheapest(i, j):
        together = 0 if old[i] in (new[j], "GW") else 2
        if i == j == 0:
            return together
        ways = [cheapest(i - 1, j) + 3] if i else []
        ways += [cheapest(i, j - 1) + 3] if j else []
        ways += [cheapest(i - 1, j - 1) + together] if i and j else []
        return min(ways)

    old, new = old[:4], new[:4]  # the oracle takes exponential time
    partners = align_tags(old, new)
    steps = [(i, j) for i, found in enumerate(partners) for j in found]
    cost = 0
    for before, (i, j) in zip([None, *steps], steps, strict=False):
        alone = before is None or (before[0] != i and before[1] != j)
        cost += (0 if old[i] in (new[j], "GW") else 2) if alone else 3
    # Equal sequences are not walked: nothing can be cheaper than each word alone.
    assert cost == cheapest(len(old) - 1, len(new) - 1)
