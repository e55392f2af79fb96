"""What a run depends on."""

import json

import pytest

from capsrl.bulk.job import Job
from capsrl.errors import ModelError
from capsrl.options import Options
from capsrl.tables.reading import ReadOptions
from capsrl.tables.writing import WriteOptions


def test_fingerprint_has_model_and_frames(tmp_path):
    index = tmp_path / "frames.tsv"
    index.write_text("x")
    prints = {
        Job(output="", frames=None).fingerprint(),
        Job(output="", frames=str(index)).fingerprint(),
    }
    index.write_text("y")
    prints.add(Job(output="", frames=str(index)).fingerprint())
    assert len(prints) == 3
    assert {len(each) for each in prints} == {16}


def test_settings_are_json_and_differ_with_the_job():
    plain = Job(output="out").settings()
    assert json.loads(json.dumps(plain)) == plain
    assert plain == Job(output="elsewhere", threads=4).settings()  # these change no output
    changes = [
        {"write": WriteOptions("csv")},
        {"write": WriteOptions(rows="argument")},
        {"read": ReadOptions(text_column="body")},
        {"read": ReadOptions(max_characters=5)},
        {"options": Options(pos=["verb"])},
        {"runtime": "torch"},
    ]
    for change in changes:
        assert Job(output="out", **change).settings() != plain


def test_no_model():
    with pytest.raises(ModelError, match="nosuch: not a model folder"):
        Job(output="out", model="nosuch").settings()
