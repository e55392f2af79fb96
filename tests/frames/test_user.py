"""Which frames explain propositions: those given, those of the user, those of the model."""

import sys
from pathlib import Path

import pytest

from capsrl.errors import DataError
from capsrl.frames.index import NO_FRAMES, FrameIndex, FrameRole, Roleset
from capsrl.frames.user import choose_frames, load_frames, user_index

FOLDER = """<frameset><predicate lemma="bark"><roleset id="bark.01"><roles>
<role n="0" descr="given"/></roles></roleset></predicate></frameset>"""


def described(sense, description):
    return Roleset(sense, roles=(FrameRole("A0", "PAG", "Agent", description),))


OWN = FrameIndex.from_rolesets([described("bark.01", None), described("meow.01", None)])
OWN_PROSE = FrameIndex.from_rolesets([described("bark.01", "own")])


@pytest.fixture
def given(tmp_path):
    folder = tmp_path / "frames"
    folder.mkdir()
    (folder / "bark.xml").write_text(FOLDER)
    return folder


@pytest.fixture
def user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    FrameIndex.from_rolesets([described("bark.01", "user"), described("moo.01", "cow")]).save(
        user_index()
    )


def test_without_others_the_model_counts(given):
    assert choose_frames(None, OWN) is OWN
    assert choose_frames(given, NO_FRAMES).meaning("bark.01", "A0") == "given"


def test_what_the_user_made_comes_before_the_facts_of_the_model(user):
    frames = choose_frames(None, OWN)
    assert frames.meaning("bark.01", "A0") == "user"
    assert frames.meaning("meow.01", "A0") == "Agent"


def test_a_model_with_descriptions_keeps_them(user):
    frames = choose_frames(None, OWN_PROSE)
    assert frames.meaning("bark.01", "A0") == "own"
    assert frames.meaning("moo.01", "A0") == "cow"


def test_what_is_given_comes_first(user, given):
    for own in (OWN, OWN_PROSE):
        frames = choose_frames(given, own)
        assert frames.meaning("bark.01", "A0") == "given"
        assert not frames.has("moo.01")


def test_a_folder_or_an_index(given, tmp_path):
    load_frames(given).save(tmp_path / "index.tsv")
    assert list(load_frames(tmp_path / "index.tsv")) == list(load_frames(given))
    with pytest.raises(DataError, match="nowhere: no such folder"):
        load_frames(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data"),
        ("linux", {}, "/home/me/.local/share"),
        ("linux", {"XDG_DATA_HOME": "data"}, "/home/me/.local/share"),  # must be absolute
        ("darwin", {}, "/home/me/Library/Application Support"),
        ("win32", {"LOCALAPPDATA": "/users/me/local"}, "/users/me/local"),
        ("win32", {}, "/home/me/AppData/Local"),
    ],
)
def test_data_folders(monkeypatch, platform, variables, folder):
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": "/home/me"} | variables).items():
        monkeypatch.setenv(name, value)
    assert user_index() == Path(folder, "capsrl", "frames.tsv")
