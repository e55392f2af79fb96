"""Frame files written here, in the form of the published ones."""

import os
import re
import time

import pytest

from capsrl.errors import DataError
from capsrl.frames.index import FrameRole, Roleset
from capsrl.frames.xml import read_frames
from capsrl.predict.inventory import Inventory, build_inventory
from capsrl.sentence import Proposition, Sentence

HEAD = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE frameset PUBLIC "-//PB//PropBank Frame v3.4 Transitional//EN" "http://127.0.0.1/f.dtd">
"""
BAKE = """<frameset>
  <note>Kitchens &amp; ovens</note>
  <predicate lemma="bake">
    <roleset id="bake.01" name="cook in an oven">
      <aliases>
        <alias pos="v">bake</alias>
        <alias pos="n">baking</alias>
        <alias pos="n"> Bakery_work </alias>
        <alias pos="l">do_baking</alias>
      </aliases>
      <roles>
        <note>n=2 is rare</note>
        <role descr="baker" f="PAG" n="0"><rolelinks/></role>
        <role descr="thing baked" f="PPT" n="1"/>
        <role descr="for how long" f="tmp" n="m"/>
        <role descr="whatever else" n="M"/>
      </roles>
      <example name="x"><text>Ann baked .</text><propbank><arg type="ARG0">Ann</arg></propbank>
      </example>
    </roleset>
  </predicate>
  <predicate lemma="bake_up">
    <roleset id="bake_up.02"><roles><role n="1" descr="story"/></roles></roleset>
  </predicate>
</frameset>
"""
STIR = """<frameset><predicate lemma="stir"><roleset id="stir.01">
<aliases><alias pos="v">stir</alias><alias pos="v">bake</alias></aliases><roles/>
</roleset></predicate></frameset>
"""


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.xml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def frames(tmp_path):
    write(tmp_path, bake=HEAD + BAKE, stir=HEAD + STIR)
    (tmp_path / "frameset.dtd").write_text("<!ELEMENT frameset (predicate)*>")
    return read_frames(tmp_path)


def descriptions(frames):
    return {each.sense: {role.name: role.description for role in each.roles} for each in frames}


def test_roles_are_named_as_in_corpora(frames):
    assert descriptions(frames) == {
        "bake.01": {
            "A0": "baker",
            "A1": "thing baked",
            "AM-TMP": "for how long",
            "AM": "whatever else",
        },
        "bake_up.02": {"A1": "story"},
        "stir.01": {},
    }
    assert [each.definition for each in frames] == ["cook in an oven", None, None]


def test_senses_by_lemma_alias_and_first_verb(frames):
    assert frames.senses_by_lemma() == {
        "bake": ("bake.01", "bake_up.02", "stir.01"),
        "baking": ("bake.01",),
        "bakery_work": ("bake.01",),  # a noun: its first word is not its head
        "do_baking": ("bake.01",),
        "do": ("bake.01",),
        "bake_up": ("bake_up.02",),
        "stir": ("stir.01",),
    }


def test_of_equal_ids_the_first_counts(tmp_path):
    again = STIR.replace("stir.01", "bake.01").replace("<roles/>", '<roles><role n="0"/></roles>')
    frames = read_frames(write(tmp_path, a=BAKE, b=again))
    assert descriptions(frames)["bake.01"]["A0"] == "baker"
    assert len(frames) == 2


LEND = """<frameset><predicate lemma="lend"><roleset id="lend.LV" name=" give for
a while "><aliases><alias pos="v">Lend</alias><alias pos="m">lend an ear</alias></aliases><roles>
<role n="0" f="PAG" descr="lender">{agent}</role>
<role n="1" f="PPT" descr="thing  lent">{theme}</role>
<role n="2" f="gol" descr=""/><role n="3" f="DOM "/><role n="4" f="-"/></roles><lexlinks>
<lexlink class="give-13.1" resource="VerbNet" version="verbnet3.3"/>
<lexlink class="lend-13.1-1" resource="VerbNet" version="verbnet3.4"/>
<lexlink class="Lending" resource="FrameNet" version="1.7"/>
<lexlink class="Lending" resource="FrameNet" version="1.7"/></lexlinks></roleset></predicate>
</frameset>"""


def rolelinks(*links):
    texts = (
        f'<rolelink class="x-1" resource="{resource}" version="{version}">{name}</rolelink>'
        for resource, version, name in links
    )
    return f"<rolelinks>{''.join(texts)}</rolelinks>"


def test_facts_of_a_roleset(tmp_path):
    agent = rolelinks(("FrameNet", "1.7", "Lender"), ("VerbNet", "verbnet3.3", "co_agent"))
    theme = rolelinks(
        ("VerbNet", "verbnet3.3", "co_theme"),
        ("VerbNet", "verbnet3.4", "nm"),
        ("VerbNet", "UNK", "nm"),
        ("VerbNet", "verbnet3.3", "initial state"),
        ("VerbNet", "verbnet3.4", "Initial_State"),
    )
    (roleset,) = read_frames(write(tmp_path, lend=LEND.format(agent=agent, theme=theme)))
    assert roleset == Roleset(
        "lend.LV",
        (("v", "lend"), ("m", "lend_an_ear")),
        (
            FrameRole("A0", "PAG", "Co-Agent", "lender"),
            FrameRole("A1", "PPT", "Initial_State", "thing lent"),
            FrameRole("A2", "GOL", "Goal"),
            FrameRole("A3", "DOM", "Domain"),
            FrameRole("A4"),
        ),
        ("verbnet:lend-13.1-1", "framenet:Lending"),
        "give for a while",
    )


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("UNK causer", "3.3 cause", "3.4 stimulus"), "Stimulus"),  # of the newest version
        (("3.4 causer", "3.4 stimulus"), "Causer"),  # the first
        (("3.4 agent", "3.3 stimulus", "3.4 stimulus"), "Stimulus"),
    ],
)
def test_verbnet_names_a_role_in_several_ways(tmp_path, names, chosen):
    pairs = (name.split() for name in names)
    agent = rolelinks(*(("VerbNet", f"verbnet{version}", name) for version, name in pairs))
    (roleset,) = read_frames(write(tmp_path, lend=LEND.format(agent=agent, theme="")))
    assert roleset.roles[0].thematic == chosen


def test_verbnet_says_nothing(tmp_path):
    typo = rolelinks(("VerbNet", "verbnet3.4", "agnet"), ("VerbNet", "UNK", "expired"))
    typo += rolelinks(("VerbNet", "verbnet3.4", "pivot")).replace("x-1", "best_guess")
    (roleset,) = read_frames(write(tmp_path, lend=LEND.format(agent=typo, theme="")))
    assert [role.thematic for role in roleset.roles[:2]] == ["Agent", "Theme"]


def test_links_of_roles_count_without_links_of_the_roleset(tmp_path):
    agent = rolelinks(("VerbNet", "verbnet3.4", "agent"), ("FrameNet", "1.7", "Lender"))
    text = re.sub(
        "<lexlinks>.*</lexlinks>", "", LEND.format(agent=agent, theme=""), flags=re.DOTALL
    )
    (roleset,) = read_frames(write(tmp_path, lend=text))
    assert roleset.links == ("verbnet:x-1", "framenet:x-1")


def sentence(words, lemma, sense):
    return Sentence(
        words=words, lemmas=(lemma, *words[1:]), propositions=(Proposition(0, sense=sense),)
    )


def test_frames_add_candidates_but_do_not_count(frames):
    sentences = [sentence(("Baked", "it"), "bake", "bake_up.02")] * 2
    sentences.append(sentence(("Rest", "it"), "rest", "rest.01"))
    plain, inventory = build_inventory(sentences), build_inventory(sentences, frames=frames)
    names = {
        lemma: [inventory.senses[i] for i in inventory.candidates_of(lemma)]
        for lemma in ("bake", "baking", "stir", "rest", "eat")
    }
    assert names == {
        "bake": ["bake_up.02", "bake.01", "stir.01"],  # the one seen first
        "baking": ["bake.01"],
        "stir": ["stir.01"],
        "rest": ["rest.01"],
        "eat": [],
    }
    assert dict(zip(inventory.senses, inventory.sense_counts, strict=True)) == {
        "bake_up.02": 2,
        "rest.01": 1,
        "bake.01": 0,
        "stir.01": 0,
    }
    assert inventory.patterns == plain.patterns
    assert inventory.frames.meaning("bake.01", "A1") == "thing baked"
    assert Inventory.from_dict(inventory.to_dict()) == inventory


BROKEN = {
    "expected a <frameset>, got a <list>": ("<list/>", ":"),
    "<predicate> has no lemma": (STIR.replace("lemma=", "name="), ":"),
    "predicate stir: <roleset> has no id": (STIR.replace("id=", "name="), ":"),
    "bake.01: role 'baker': <role> has no n": (
        BAKE.replace(' n="0"', ""),
        ":",
    ),
}


@pytest.mark.parametrize("message", BROKEN)
def test_broken_files_are_named(tmp_path, message):
    text, place = BROKEN[message]
    write(tmp_path, good=STIR, other=text)
    with pytest.raises(DataError, match=f"other.xml{place} .*{message}"):
        read_frames(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BAKE.replace("</roles>", "</role>", 1), ":17: expected XML, got mismatched tag"),
        ("", ":1: expected XML, got no element found"),
        (
            '<?xml version="1.0" encoding="klingon"?><frameset/>',
            ": expected XML in UTF-8, got unknown encoding: klingon",
        ),
    ],
)
def test_files_that_are_not_xml_are_skipped(tmp_path, text, message):
    write(tmp_path, good=STIR, other=text)
    with pytest.warns(UserWarning, match=f"other.xml{message}; it is skipped"):
        assert [each.sense for each in read_frames(tmp_path)] == ["stir.01"]
    (tmp_path / "good.xml").unlink()
    with pytest.warns(UserWarning, match="other.xml"):
        with pytest.raises(DataError, match="has no frame files with rolesets"):
            read_frames(tmp_path)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("Ann</arg>", "Ann</rel>", ":18: expected XML, got mismatched tag"),
        ('name="x"', "name=Own words, mine", ":18: expected XML, got not well-formed"),
    ],
)
def test_broken_examples_are_left_out(tmp_path, frames, right, wrong, message):
    assert right in BAKE
    write(tmp_path, bake=BAKE.replace(right, wrong))
    with pytest.warns(UserWarning, match=rf"bake.xml{message}.*; it is read without its examples"):
        assert list(read_frames(tmp_path)) == list(frames)


def test_many_examples_without_an_end(tmp_path):
    """In linear time: it would be ten seconds for these, and hours for some megabytes."""
    write(tmp_path, good=STIR, other="<frameset>" + "<example>" * 20_000)
    begin = time.process_time()
    with pytest.warns(UserWarning, match="other.xml.*; it is skipped"):
        assert len(read_frames(tmp_path)) == 1
    assert time.process_time() - begin < 2


BOMB = '<!DOCTYPE f [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>\n' + STIR.replace("stir.01", "&b;")
OUTSIDE = '<!DOCTYPE f [<!ENTITY x SYSTEM "secret.txt">]>\n' + STIR.replace("<roles/>", "&x;")
UNKNOWN = HEAD + STIR.replace("bake<", "&eacute;cuire<")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "other.xml:1: expected plain text, got the entity a; write the text"),
        (OUTSIDE, "other.xml:1: expected plain text, got the entity x"),
        (UNKNOWN, "other.xml:4: expected plain text, got the entity eacute"),
    ],
)
def test_entities_are_refused(tmp_path, text, message):
    (tmp_path / "secret.txt").write_text("secret")
    with pytest.raises(DataError, match=message):
        read_frames(write(tmp_path, other=text))


def test_a_folder_without_frames(tmp_path):
    message = "has no PropBank frame files .*; in a clone of propbank-frames"
    with pytest.raises(DataError, match=message):
        read_frames(tmp_path)
    with pytest.raises(DataError, match="nowhere: no such folder$"):
        read_frames(tmp_path / "nowhere")
    (tmp_path / "folder.xml").mkdir()
    os.mkfifo(tmp_path / "pipe.xml")  # would block
    (tmp_path / "device.xml").symlink_to("/dev/zero")  # would never end
    with pytest.raises(DataError, match=message):
        read_frames(tmp_path)
