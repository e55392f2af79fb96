import os

import pytest

from torture.fuzz import attack, input_of
from torture.target import Target, Wrong
from torture.targets import make_targets

pytest.importorskip("onnxruntime")
pytestmark = [
    pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux"),
    pytest.mark.filterwarnings("ignore"),
]
NAMES = ("conll09", "conllup", "jsonl", "table/csv", "table/jsonl", "packed/zst", "frames.tsv")
NAMES += ("brat/full/a.ann", "labelstudio", "conll05", "conll12", "jsonl/spans")
NAMES += ("up2", "cas/xmi", "search/csv", "write/proposition rows", "write/brat")
NAMES += ("recipe", "bulk/plan", "bulk/log", "split", "request", "parse/config.json")


@pytest.fixture(scope="module")
def targets():
    return make_targets("corpora", "tables", "bulk", "texts", "models", "frames")


@pytest.mark.parametrize("name", NAMES)
def test_mutated_inputs_are_read_or_refused(targets, name, tmp_path):
    for seed in targets[name].seeds:
        targets[name].read(seed)  # else its mutations would be refused for the same reason
    counts = attack(targets[name], range(60), 7, tmp_path / "findings", seconds=10)
    assert counts.total() and set(counts) <= {"read", "refused"}, counts


def test_findings(tmp_path):
    def read(data):
        if data[:1] == b"a":
            raise KeyError("a")
        raise Wrong("b")

    counts = attack(Target("planted", [b"aaaa"], read), range(80), 1, tmp_path)
    assert {kind.partition(" at ")[0] for kind in counts} == {"KeyError", "wrong: b"}
    for path in tmp_path.glob("planted-1-*[0-9]"):
        number = int(path.name.rpartition("-")[2])
        assert path.read_bytes() == input_of(Target("planted", [b"aaaa"], read), 1, number)
