"""Missing files are all named at once; parts of corpora are the same everywhere."""

import pytest

from capsrl.errors import ConfigError
from reproduce.__main__ import main
from reproduce.files import cut_corpus
from tests.helpers.tiny_plans import EXPERIMENT, ROOT, corpus, write_plan

TRAIN = ROOT / "recipes" / "tiny" / "train.conll09"


def test_each_kind_of_missing_file_is_named_in_one_message(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sources = (
        'model.embeddings.elmo = "./elmo"',
        'model.embeddings.fasttext = "./cc.de.300.bin"',
        'model.embeddings.transformer = "./encoders/gte-small"',
        'data.frames = "./frames"',
    )
    package = ('model.embeddings.transformer = "no_such_package"',)
    tables = corpus("a", changes=sources) + corpus("b", changes=package)
    plan = write_plan(
        tmp_path, tables + EXPERIMENT.replace('["one"]', '["a", "b"]').replace("corpus/", "")
    )
    (tmp_path / "elmo").mkdir()
    (tmp_path / "elmo" / "x_options.json").touch()
    kinds = [
        "cc.de.300.bin: no such file (for a)",
        "elmo: expected *weights.hdf5 in it, got none (for a)",
        "encoders/gte-small: no such folder (for a)",
        "frames: no such file (for a)",
        "no_such_package: no such folder or installed package (for b)",
    ]
    # The corpora are there: the runs can be listed.
    assert main(["run", plan.name, "--dry-run"]) == 2
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 4
    heading, *lines = err.splitlines()
    assert heading.startswith("error: 5 missing; docs/corpora.md and docs/paper.md say")
    assert sorted(lines) == kinds
    (tmp_path / "corpus" / "train.conll09").unlink()
    (tmp_path / "corpus" / "dev.conll09").unlink()
    for arguments in (["--dry-run"], []):
        assert main(["run", plan.name, *arguments]) == 2
        out, err = capsys.readouterr()
        found = ["corpus/dev.conll09", "corpus/train.conll09"]
        wanted = [kinds[0], *(f"{file}: no such file (for a, b)" for file in found), *kinds[1:]]
        assert (out, sorted(err.splitlines()[1:])) == ("", wanted)


def test_a_cut_is_spread_over_the_corpus(tmp_path):
    cut = cut_corpus(TRAIN, 6, tmp_path)
    assert cut.name == "tiny-6.conll09"
    blocks = TRAIN.read_text(encoding="utf-8").split("\n\n")
    places = [blocks.index(block) for block in cut.read_text(encoding="utf-8").split("\n\n")[:-1]]
    assert places == sorted(places) and len(set(places)) == 6
    assert places[-1] - places[0] > 12  # of 28
    with pytest.raises(ConfigError, match="expected at least 100 sentences, got 28"):
        cut_corpus(TRAIN, 100, tmp_path)
