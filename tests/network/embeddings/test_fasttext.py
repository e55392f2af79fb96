import copy

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from capsrl.errors import ModelError
from capsrl.network.embeddings.fasttext import FastText, look_up
from capsrl.network.embeddings.vector_files import open_vectors
from capsrl.sentence import Sentence

TEXT = "5 2\nder 1 2\nhund 3 4\nHund 5 6\nsieht 7 8\nkatze 9 10\n"


@pytest.fixture
def file(tmp_path):
    (tmp_path / "tiny.vec").write_text(TEXT)
    return open_vectors(tmp_path / "tiny.vec")


def run(module, *texts):
    items = [module.index(Sentence(words=tuple(text.split()))) for text in texts]
    return module(module.collate(items))


def test_words_of_table_and_file(file):
    module = FastText.from_file(file, ["der", "Hund", "der", "fliegt"])
    assert module.words == ["Hund", "der"] and module.width == 2  # the file has no "fliegt"
    vectors = run(module, "der Hund Sieht", "Katze Katze fliegt DER der")
    expected = [
        [[1, 2], [5, 6], [7, 8], [0, 0], [0, 0]],
        [[9, 10], [9, 10], [0, 0], [1, 2], [1, 2]],
    ]
    assert_close(vectors, torch.tensor(expected, dtype=torch.float32))


def test_words_without_the_file(file):
    module = FastText.from_file(file, ["der", "sieht"])
    folder = FastText(words=module.words, width=2)
    folder.load_state_dict(module.state_dict())
    assert set(module.state_dict()) == {"table"} and not list(module.parameters())
    expected = torch.tensor([[[1.0, 2], [7, 8], [0, 0]]])
    assert_close(run(folder, "der SIEHT Hund"), expected)
    folder.attach(file)
    assert_close(run(folder, "der SIEHT Hund"), run(module, "der SIEHT Hund"))
    assert run(folder, "Hund").tolist() == [[[5, 6]]]


def test_alone_equals_batch(file):
    module = FastText.from_file(file, ["der"])
    texts = ["Hund", "der Katze sieht", "der der", "nichts hund nichts Hund"]
    together = run(module, *texts)
    assert together.shape == (4, 4, 2)
    for number, text in enumerate(texts):
        alone = run(module, text)[0]
        assert torch.equal(together[number, : len(alone)], alone)
        assert not together[number, len(alone) :].any()


def test_empty_sentences_and_an_empty_table(file):
    module = FastText.from_file(file, ["unbekannt"])
    assert module.words == [] and run(module, "der").tolist() == [[[1, 2]]]
    assert run(module, "").shape == (1, 0, 2)
    assert run(module, "", "Hund").tolist() == [[[0, 0]], [[5, 6]]]


def test_lower_case_before_subwords(tmp_path):
    fasttext = pytest.importorskip("fasttext")
    (tmp_path / "text").write_text("der Hund sieht die Katze\n" * 30)
    options = {"dim": 4, "minCount": 1, "bucket": 50, "t": 1, "thread": 12, "epoch": 1}
    model = fasttext.train_unsupervised(str(tmp_path / "text"), **options)
    model.save_model(str(tmp_path / "model.bin"))
    file = open_vectors(tmp_path / "model.bin")
    for word, taken in [("Hund", "Hund"), ("DER", "der"), ("Hunde", "Hunde"), ("KATZE", "KATZE")]:
        np.testing.assert_allclose(look_up(file, word), model.get_word_vector(taken), atol=1e-6)
    module = FastText.from_file(file, ["der", "Sieht"])
    expected = [model.get_word_vector(word) for word in ["der", "sieht", "Hunde"]]
    assert_close(run(module, "der Sieht Hunde")[0], torch.from_numpy(np.stack(expected)))


def test_wrong_file(file, tmp_path):
    module = FastText.from_file(file, ["der", "Hund"])
    (tmp_path / "wide.vec").write_text("der 1 2 3\n")
    with pytest.raises(ModelError, match=r"wide\.vec: expected vectors of width 2, got 3"):
        module.attach(open_vectors(tmp_path / "wide.vec"))
    with pytest.raises(ModelError, match=r"wide\.vec: expected vectors of width 2, got 3"):
        FastText(words=[], width=2, file=open_vectors(tmp_path / "wide.vec"))
    (tmp_path / "other.vec").write_text("der 1 2\nHund 5 7\n")
    with pytest.raises(ModelError, match=r"other\.vec: not the vectors .*: another for 'Hund'"):
        module.attach(open_vectors(tmp_path / "other.vec"))
    (tmp_path / "small.vec").write_text("der 1 2\n")
    with pytest.raises(ModelError, match=r"small\.vec: not the vectors .*: none for 'Hund'"):
        module.attach(open_vectors(tmp_path / "small.vec"))
    assert module.file is file


def test_copy_and_half_precision(file):
    module = copy.deepcopy(FastText.from_file(file, ["der"])).to(torch.bfloat16)
    assert module.file is file
    vectors = run(module, "der Hund")
    assert vectors.dtype == torch.bfloat16 and vectors.tolist() == [[[1, 2], [5, 6]]]
