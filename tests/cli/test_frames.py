"""`capsrl frames`: an index of frame files, which all commands read from then on."""

import json

import pytest

import capsrl as library
from capsrl.frames.index import FrameIndex
from capsrl.frames.user import user_index

SELL = """<frameset><predicate lemma="sell"><roleset id="sell.01" name="give for money">
<aliases><alias pos="v">sell</alias><alias pos="n">selling</alias></aliases><roles>
<role n="0" f="PAG" descr="vendor"/><role n="1" f="PPT" descr="ware"/></roles><lexlinks>
<lexlink class="Selling" resource="FrameNet" version="1.7"/></lexlinks>
</roleset></predicate></frameset>"""
TEXT = "Mira sold her bicycle yesterday."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "frames"
    folder.mkdir()
    (folder / "sell.xml").write_text(SELL)
    return folder


def meanings(sentence):
    return [argument.meaning for argument in sentence.propositions[0].arguments]


def test_the_index_serves_the_library_from_then_on(capsrl, folder, labeler):
    [before] = labeler.label(TEXT)
    assert meanings(before) == ["Agent", "Theme", "time"]
    assert before.propositions[0].definition is None
    done = capsrl("frames", folder)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"{user_index()}: 1 sense, 2 roles\n"
    explained = library.load()
    [after] = explained.label(TEXT)
    assert meanings(after) == ["vendor", "ware", "time"]
    assert after.propositions[0].definition == "give for money"
    assert after.propositions[0].frames == ("framenet:Selling",)
    other = explained.label("He left.")[0].propositions[0]
    assert other == labeler.label("He left.")[0].propositions[0]  # the model's own for the rest


def test_the_model_keeps_its_own_frames(capsrl, folder, tmp_path, labeler):
    capsrl("frames", folder)
    library.load(runtime="torch").save(tmp_path / "copy")
    assert list(FrameIndex.load(tmp_path / "copy" / "frames.tsv")) == list(labeler.frames)


@pytest.mark.parametrize("format", ["table", "html", "json", "jsonl", "conllup"])
def test_the_index_serves_every_format(capsrl, folder, format):
    capsrl("frames", folder)
    out = capsrl("label", TEXT, "--to", format).out
    n_times = 2 if format == "html" else 1  # as a chip and in the table
    assert all(1 <= out.count(prose) <= n_times for prose in ("vendor", "ware", "give for money"))


def test_given_frames_come_first(capsrl, folder, tmp_path):
    capsrl("frames", folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / "sell.xml").write_text(SELL.replace("vendor", "clerk"))
    assert capsrl("frames", other, "-o", "other.tsv").code == 0
    for frames in ("other", "other.tsv"):
        [found] = json.loads(capsrl("label", TEXT, "--to", "json", "--frames", frames).out)
        assert found["propositions"][0]["arguments"][0]["meaning"] == "clerk"


def test_facts(capsrl, folder):
    done = capsrl("frames", folder, "--facts", "-o", "facts.tsv", "--source", "here, CC0")
    assert done.err == "facts.tsv: 1 sense, 2 roles\n"
    index = FrameIndex.load("facts.tsv")
    assert index.comments == ("source: here, CC0",)
    assert not index.has_prose and index.meaning("sell.01", "A0") == "Agent"
    assert not user_index().exists()


@pytest.mark.filterwarnings("default")
def test_files_that_are_not_xml_are_named(capsrl, folder):
    (folder / "bad.xml").write_text("<frameset>")
    done = capsrl("frames", folder, "-o", "index.tsv")
    assert done.code == 0
    warning = "bad.xml:1: expected XML, got no element found; it is skipped\n"
    assert done.err.startswith("warning: ") and warning in done.err
    assert len(FrameIndex.load("index.tsv")) == 1


def test_mistakes_exit_with_one_line(capsrl, folder, tmp_path):
    done = capsrl("frames", tmp_path)
    assert done.code == 2
    assert done.err == (
        f"error: {tmp_path}: has no PropBank frame files (*.xml); in a clone of "
        "propbank-frames they are in the folder frames\n"
    )
    user_index().parent.mkdir(parents=True)
    user_index().write_text("old")
    done = capsrl("label", TEXT)
    assert done.code == 2
    assert done.err.endswith("got 'old'; make it again: capsrl frames FOLDER\n")


def test_a_word_is_looked_up(capsrl, folder):
    done = capsrl("frames", "sold")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "sell.01  noun sale, selling; light verb make sale\n  A0  Agent      PAG\n"
    )
    assert "  verbnet:give-13.1-1 framenet:Commerce_sell\n\nsell_off.04\n" in done.out
    capsrl("frames", folder)
    assert capsrl("frames", "sell.01").out == (
        "sell.01  give for money  noun selling\n"
        "  A0  vendor  Agent  PAG\n  A1  ware    Theme  PPT\n  framenet:Selling\n"
    )


def test_json_of_a_word(capsrl):
    [found] = json.loads(capsrl("frames", "sell.01", "--json").out)
    assert found["roles"][2]["thematic"] == "Recipient"


def test_a_folder_wins_over_a_word(capsrl, tmp_path):
    (tmp_path / "sell").mkdir()
    assert "sell: has no PropBank frame files" in capsrl("frames", "sell").err
    assert "./take: " in capsrl("frames", "./take").err
    done = capsrl("frames", "take", "--facts")
    assert done.code == 2
    assert done.err == "error: take: no such folder, which -o, --facts and --source need\n"
    assert capsrl("frames", "sall").err.startswith("error: sall: not in the frames; did you mean")
