"""Look up words in any form, and senses."""

import pytest

import capsrl
from capsrl.errors import DataError
from capsrl.frames.index import FrameIndex, FrameRole, Roleset
from capsrl.frames.lookup import frames_of, look_up

SELL = Roleset(
    "sell.01",
    (("v", "sell"), ("n", "sale"), ("l", "make_sale")),
    (FrameRole("A0", "PAG", "Agent"), FrameRole("A1", "PPT", "Theme")),
    ("verbnet:give-13.1",),
)
FRAMES = FrameIndex.from_rolesets(
    [
        Roleset("sell_out.02", (("v", "sell_out"),)),
        SELL,
        Roleset("vend.01", (("v", "vend"), ("v", "sell"))),
        Roleset("found.01", (("v", "found"),)),
        Roleset("find.02", (("v", "find"),)),
        Roleset("find.01", (("v", "find"), ("n", "find"))),
    ]
)


def senses(word: str) -> list[str]:
    return [each.sense for each in look_up(word, FRAMES)]


@pytest.mark.parametrize("form", ["sell", "sells", "sold", "selling", "Sold"])
def test_forms_of_a_verb(form):
    assert senses(form) == ["sell.01", "vend.01", "sell_out.02"]


def test_particles_nouns_and_ambiguous_forms():
    assert senses("sold out") == senses("sell_out") == ["sell_out.02"]
    assert senses("sales") == ["sell.01"]
    assert senses("found") == ["found.01", "find.01", "find.02"]


def test_a_light_verb_is_not_looked_up_by_its_verb():
    frames = FrameIndex.from_rolesets([SELL, Roleset("make.01", (("v", "make"),))])
    assert [each.sense for each in look_up("made", frames)] == ["make.01"]


def test_a_sense_is_itself():
    assert look_up("Sell.01", FRAMES) == look_up("sell.01", FRAMES) == [SELL]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("sall", r"^sall: not in the frames; did you mean sell, sale\?$"),
        ("sell.07", r"^sell.07: not in the frames; did you mean sell.01\?$"),
        ("sall.01", r"^sall.01: not in the frames; did you mean sell, sale\?$"),
        ("xyzzy", "^xyzzy: not in the frames; the frames are of English$"),
        ("", "^: not in the frames"),
    ],
)
def test_unknown_words(word, message):
    with pytest.raises(DataError, match=message):
        look_up(word, FRAMES)


def test_the_frames_that_ship():
    found = capsrl.look_up("took")
    assert found[0].sense == "take.01" and "framenet:Taking" in found[0].links
    assert {role.name: role.meaning for role in found[0].roles}["A0"] == "Agent"
    assert {"resign.01"} <= {each.sense for each in capsrl.look_up("resignation")}
    assert all(capsrl.look_up(each.sense) == [each] for each in found)


def test_frames_of_the_user_come_first(tmp_path):
    FRAMES.save(tmp_path / "own.tsv")
    assert capsrl.look_up("sold", frames=tmp_path / "own.tsv")[0] == SELL
    assert len(frames_of(tmp_path)) == 0  # a model without frames
