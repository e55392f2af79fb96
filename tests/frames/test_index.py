"""The index of frames: looked up by sense and by lemma, written and read."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import capsrl
from capsrl.errors import DataError
from capsrl.frames.index import NO_FRAMES, FrameIndex, FrameRole, Roleset, thematic_role

GIVE = Roleset(
    "give.01",
    (("n", "giving"), ("v", "give")),
    (
        FrameRole("A0", "PAG", "Agent", "giver"),
        FrameRole("A1", "PPT", "Theme", "gift"),
        FrameRole("A2", "GOL", "Recipient"),
        FrameRole("AM-TMP", "TMP", "Time", "date"),
        FrameRole("A5", "", None),
        FrameRole("A6", "PAG", None),
    ),
    ("verbnet:give-13.1-1", "framenet:Giving"),
    "hand over",
)
GIVE_UP = Roleset("give_up.07", (("v", "give_up"), ("n", "giving_up")))
ALIGN = Roleset("align.01", (("v", "align"), ("v", "line_up"), ("j", "lined_up")))
LINE = Roleset("line.01", (("v", "line"),))
WALK = Roleset("walk.01", (("v", "walk"), ("n", "walk"), ("l", "take_walk")))
TERMS = Roleset("come_to_terms.14", (("m", "come_to_terms"),))
CHECK_IN = Roleset("check_in.02", (("v", "check"), ("v", "check_in")))
ALL = (GIVE, ALIGN, GIVE_UP, LINE, WALK, TERMS, CHECK_IN)


@pytest.fixture
def index():
    return FrameIndex.from_rolesets(ALL, ["source: written here"])


def test_lemmas_are_found_alike_one_by_one_and_together():
    """The first lemmas are searched for; then all rows are sorted by lemma."""
    lemmas = ["give", "giving", "line", "lined", "take", "walk", "come", "check", "align", ""]
    searching = FrameIndex.from_rolesets(ALL)
    found = [searching.rolesets_of(lemma) for lemma in lemmas * 2]
    sorted_first = FrameIndex.from_rolesets(ALL)
    sorted_first.senses_by_lemma()
    assert found == [sorted_first.rolesets_of(lemma) for lemma in lemmas * 2]
    assert any(found)


@pytest.mark.parametrize(
    ("lemma", "pos", "senses"),
    [
        ("give", "v", ["give.01", "give_up.07"]),
        ("give", "n", []),
        ("giving", "n", ["give.01"]),
        ("giving", None, ["give.01"]),  # the first word of a noun is not its head
        ("line", "v", ["line.01", "align.01"]),  # its own first
        ("lined", "j", []),
        ("take", "v", []),
        ("take", "l", ["walk.01"]),
        ("walk", None, ["walk.01"]),
        ("come", "v", ["come_to_terms.14"]),
        ("gallop", None, []),
    ],
)
def test_senses_of_a_lemma(index, lemma, pos, senses):
    assert index.rolesets_of(lemma, pos) == tuple(senses)


@pytest.mark.parametrize(
    ("sense", "lemma", "particle"),
    [
        ("give.01", None, None),
        ("give_up.07", None, "up"),
        ("give_up.07", "give", "up"),
        ("align.01", None, None),
        ("align.01", "align", None),
        ("align.01", "line", "up"),
        ("walk.01", "take", "walk"),
        ("come_to_terms.14", "come", "to_terms"),
        ("check_in.02", "check", "in"),  # its name counts, not its alias
        ("throw_up.99", None, "up"),  # unknown
        ("sing.01", "hum", None),
    ],
)
def test_particles(index, sense, lemma, particle):
    assert index.particle_of(sense, lemma) == particle


@pytest.mark.parametrize(
    ("role", "meaning"),
    [
        ("A0", "giver"),
        ("R-A0", "giver"),
        ("C-A1", "gift"),
        ("A2", "Recipient"),  # not described
        ("A3", None),
        ("A5", None),
        ("AM-TMP", "date"),
        ("AM-LOC", "location"),
        ("C-AM-LOC", "location"),
        ("C-V", "part of the predicate"),
        ("AM-XYZ", None),
    ],
)
def test_meanings(index, role, meaning):
    assert index.meaning("give.01", role) == meaning


def test_unknown_senses(index):
    assert not index.has("give.02")
    assert index.roles_of("give.02") == index.links("give.02") == index.aliases_of("give.02") == ()
    assert index.definition("give.02") is None
    assert index.meaning("give.02", "A0") is None
    assert index.meaning("give.02", "AM-TMP") == NO_FRAMES.meaning("x", "R-AM-TMP") == "time"


def test_known_senses(index):
    assert index.has("give.01") and len(index) == 7
    assert index.roles_of("give.01") == GIVE.roles
    assert index.links("give.01") == GIVE.links
    assert index.definition("give.01") == "hand over"
    assert index.definition("line.01") is None


def test_thematic_roles():
    assert [thematic_role(tag) for tag in ("PAG", "AXS1", "XYZ", "")] == [
        "Agent",
        "Axis",
        None,
        None,
    ]


def test_one_index_over_another(index):
    other = FrameIndex.from_rolesets(
        [Roleset("give.01", definition="bestow"), Roleset("sing.01", definition="make music")]
    )
    assert index.over(other).definition("give.01") == "hand over"
    assert other.over(index).definition("give.01") == "bestow"
    assert len(index.over(other)) == len(other.over(index)) == 8


def test_round_trip(index, tmp_path):
    index.save(tmp_path / "new" / "all.tsv.gz")
    again = FrameIndex.load(tmp_path / "new" / "all.tsv.gz")
    assert list(again) == list(index) == list(ALL)
    assert again.comments == ("source: written here",)
    assert again.has_prose


def test_tabs_and_line_ends_in_prose(tmp_path):
    role = FrameRole("A0", "PAG", "Agent", "giver\tof\n gifts")
    FrameIndex.from_rolesets([Roleset("give.01", (), (role,))]).save(tmp_path / "x.tsv")
    assert FrameIndex.load(tmp_path / "x.tsv").meaning("give.01", "A0") == "giver of gifts"


def test_facts_alone(index, tmp_path):
    index.save(tmp_path / "facts.tsv", facts=True)
    again = FrameIndex.load(tmp_path / "facts.tsv")
    assert not again.has_prose
    assert again.meaning("give.01", "A0") == "Agent" and again.definition("give.01") is None
    assert again.links("give.01") == GIVE.links
    text = (tmp_path / "facts.tsv").read_text()
    assert (
        "# source: written here\ngive.01\tn:giving v\t0/PAG 1/PPT 2/GOL/Recipient AM-TMP/TMP"
        in text
    )
    assert not any(prose in text for prose in ("giver", "gift", "date", "hand over"))


WORD = st.text(st.characters(categories=["L", "N"]) | st.sampled_from("_-'"), min_size=1)
PROSE = st.none() | st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)
ROLES = st.builds(
    FrameRole,
    st.sampled_from(["A0", "A1", "AM-LOC", "AM", "AA"]),
    st.sampled_from(["", "PAG", "GOL", "XYZ"]),
    st.none() | st.sampled_from(["Agent", "Initial_State"]),
    PROSE,
)
ROLESETS = st.builds(
    Roleset,
    st.builds("{}.{:02}".format, WORD, st.integers(0, 120)),
    st.lists(st.tuples(st.sampled_from("vnjlm_"), WORD), max_size=3).map(tuple),
    st.lists(ROLES, max_size=4).map(tuple),
    st.lists(st.builds("verbnet:{}".format, WORD), max_size=2).map(tuple),
    PROSE,
)


@given(st.lists(ROLESETS, unique_by=lambda each: each.sense))
def test_any_roleset_is_written_and_read(tmp_path_factory, rolesets):
    file = tmp_path_factory.mktemp("index") / "any.tsv"
    FrameIndex.from_rolesets(rolesets).save(file)
    assert list(FrameIndex.load(file)) == rolesets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.tsv:1: expected '# capsrl frame index 1', got ''; make it again"),
        ("# capsrl frame index 2\n", "got '# capsrl frame index 2'; make it again: capsrl frames"),
        ("# capsrl frame index 1\n# y\ngive.01\tv\t", "x.tsv:3: expected a sense, .* got 'give.01"),
    ],
)
def test_damaged_files(tmp_path, text, message):
    (tmp_path / "x.tsv").write_text(text)
    with pytest.raises(DataError, match=message):
        FrameIndex.load(tmp_path / "x.tsv")


def test_files_that_cannot_be_read_or_written(index, tmp_path):
    with pytest.raises(DataError, match=r"absent.tsv: no such file"):
        FrameIndex.load(tmp_path / "absent.tsv")
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"file/x.tsv: cannot be written: (File exists|Not a dir)"):
        index.save(tmp_path / "file" / "x.tsv")


@pytest.fixture(scope="module")
def shipped():
    return FrameIndex.load(Path(capsrl.__file__).parent / "models" / "en" / "frames.tsv")


# One class of VerbNet names both roles. What is great has no class, and is no Agent.
NAMED = {
    **dict.fromkeys(("know.01", "see.01", "hear.01", "like.01"), ["Experiencer", "Stimulus"]),
    **dict.fromkeys(("want.01", "have.03"), ["Pivot", "Theme"]),
    **{"surprise.01": ["Stimulus", "Experiencer"], "break.01": ["Agent", "Patient"]},
    "great.01": ["Theme", "Goal"],
}


def test_the_index_that_ships(shipped):
    assert not shipped.has_prose
    assert "license CC BY-SA 4.0" in shipped.comments[0] and "c66e0ccf" in shipped.comments[0]
    meanings = [shipped.meaning("sell.01", role) for role in ("A0", "A1", "A2", "A3", "AM-TMP")]
    assert meanings == ["Agent", "Theme", "Recipient", "Asset", "time"]
    named = {sense: [role.thematic for role in shipped.roles_of(sense)][:2] for sense in NAMED}
    assert named == NAMED
    assert shipped.links("give.01") == ("verbnet:give-13.1-1", "framenet:Giving")
    assert shipped.rolesets_of("resignation", "n") == ("resign.01", "resign.02")
    assert "call_off.06" in shipped.rolesets_of("call", "v")
    assert shipped.particle_of("call_off.06") == "off"
    assert shipped.has("check_in.02") and shipped.has("rend.01")  # from files that are not XML


def test_the_index_that_ships_is_small_and_parsed_when_asked():
    file = Path(capsrl.__file__).parent / "models" / "en" / "frames.tsv"
    assert file.stat().st_size < 1_000_000
    loaded, calls = _count_calls(lambda: FrameIndex.load(file))
    everything, more = _count_calls(lambda: list(loaded))
    # One call to read each line. Parsing takes many more, and ten times as long.
    assert len(everything) <= calls < 1.1 * len(everything)
    assert more > 10 * calls


def _count_calls(run):
    """What a function returns, and how many functions written in Python it calls."""
    events = Counter()
    sys.setprofile(lambda frame, event, argument: events.update([event]))
    try:
        result = run()
    finally:
        sys.setprofile(None)
    return result, events["call"]


def test_no_torch():
    code = "import sys, capsrl.frames.user; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
