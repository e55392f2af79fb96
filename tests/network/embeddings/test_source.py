"""The contract of word sources, and `WordVectors`, which concatenates them."""

from pathlib import Path

import pytest
import torch
from torch import nn

from capsrl.network.embeddings.source import WordSource, WordVectors
from capsrl.sentence import Sentence

SENTENCES = [Sentence(words=("a", "bb")), Sentence(words=("ccc",))]


class Lengths(WordSource[list[int]]):
    """The length of each word, the same `width` times; the marked word is negative."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.scale = nn.Parameter(torch.ones(()))

    def index(self, sentence):
        return [len(word) for word in sentence.words]

    def collate(self, items, *, marked=None):
        ids = torch.zeros(len(items), max(map(len, items)))
        for row, item in enumerate(items):
            ids[row, : len(item)] = torch.tensor(item, dtype=torch.float)
            if marked and marked[row] is not None:
                ids[row, marked[row]] *= -1
        return {"ids": ids}

    def forward(self, inputs):
        return self.scale * inputs["ids"].unsqueeze(-1).expand(-1, -1, self.width)


class Rich(Lengths):
    """A source that implements the optional methods."""

    def __init__(self, width):
        super().__init__(width)
        self.cached = []

    def length(self, item):
        return sum(item)

    def cache_states(self, sentences, file=None):
        self.cached += sentences
        self.file = file

    def save_files(self, folder):
        folder.mkdir()
        (folder / "width").write_text(str(self.width))

    def parameter_layers(self):
        return {"scale": 3}


@pytest.fixture
def vectors():
    return WordVectors({"plain": Lengths(2), "rich": Rich(1)})


def run(vectors, **options):
    return vectors(vectors.collate([vectors.index(s) for s in SENTENCES], **options))


def test_vectors_are_concatenated(vectors):
    assert vectors.width == 3
    assert run(vectors).tolist() == [[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [0, 0, 0]]]
    assert run(WordVectors({"plain": Lengths(1)})).tolist() == [[[1], [2]], [[3], [0]]]


def test_marks_reach_every_source(vectors):
    expected = [[[1, 1, 1], [-2, -2, -2]], [[3, 3, 3], [0, 0, 0]]]
    assert run(vectors, marked=[1, None]).tolist() == expected


def test_the_longest_source_decides_the_length(vectors):
    assert vectors.length(vectors.index(SENTENCES[0])) == 3
    assert WordVectors({}).length({}) == 0


def test_only_sources_that_need_files_write_them(vectors, tmp_path):
    vectors.save_files(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["rich"]
    assert (tmp_path / "rich" / "width").read_text() == "1"


def test_optional_methods(vectors):
    vectors.cache_states(SENTENCES)
    rich = vectors.sources["rich"]
    assert (rich.cached, rich.file) == (SENTENCES, None)
    vectors.cache_states(SENTENCES, Path("states"))
    assert rich.file == Path("states/rich.pt")
    assert vectors.parameter_layers() == {"sources.rich.scale": 3}


def test_a_source_must_implement_the_contract():
    class Incomplete(Lengths):
        forward = WordSource.forward

    with pytest.raises(TypeError, match="forward"):
        Incomplete(1)
