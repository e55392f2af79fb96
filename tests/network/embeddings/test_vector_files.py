import copy
import os
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import DataError
from capsrl.network.embeddings.vector_files import (
    MAGIC,
    BinaryVectors,
    HashIndex,
    TextVectors,
    open_vectors,
    subword_hashes,
)

TEXT = "der Hund sieht die große Katze und die Katze sieht den Hund nicht über die Straße laufen\n"
THREADS = 12  # fastText's default; with fewer than ten it leaves rows uninitialized, often NaN
NEW = ["Hunde", "x", "Straßenkatze", "日本語", "</s>", "a" * 200, "naïve😀", "groß e", "<", "é"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model made by fastText itself, and that model."""
    fasttext = pytest.importorskip("fasttext")
    folder = tmp_path_factory.mktemp("fasttext")
    (folder / "text").write_text(TEXT * 20, encoding="utf-8")
    options = {
        "dim": 10,
        "minCount": 1,
        "minn": 1,
        "maxn": 4,
        "bucket": 97,
        "epoch": 2,
        "thread": THREADS,
    }
    # t=1 keeps every word: of so small a text the default discards most.
    model = fasttext.train_unsupervised(str(folder / "text"), t=1, **options)
    model.save_model(str(folder / "model.bin"))
    return folder / "model.bin", model


def write_bin(path, words, rows, *, version=12, model=2, buckets=5, subwords=(3, 6), **other):
    """The binary format, as fastText's saveModel writes it, output matrix left out."""
    labels, pruned, quantized = (
        other.get(k, d) for k, d in [("labels", []), ("pruned", -1), ("quantized", False)]
    )
    width = rows.shape[1]
    parts = [struct.pack("<ii", other.get("magic", MAGIC), version)]
    parts.append(
        struct.pack("<12id", width, 5, 5, 1, 5, 1, 2, model, buckets, *subwords, 100, 1e-4)
    )
    parts.append(
        struct.pack("<iiiqq", len(words) + len(labels), len(words), len(labels), 99, pruned)
    )
    for kind, entries in enumerate([words, labels]):
        for count, entry in enumerate(entries, start=256):  # counts with zero bytes inside
            parts.append(entry.encode("utf-8") + b"\0" + struct.pack("<qb", count, kind))
    parts.append(b"\1\0\0\0\0\0\0\0" * max(pruned, 0) + struct.pack("<?", quantized))
    parts.append(struct.pack("<qq", *other.get("shape", rows.shape)) + rows.astype("<f4").tobytes())
    path.write_bytes(b"".join(parts))
    return path


def test_equals_fasttext(trained):
    path, model = trained
    vectors = open_vectors(path)
    assert isinstance(vectors, BinaryVectors) and vectors.width == 10
    for word in [*model.words, *NEW]:
        assert (word in vectors) == (word in model.words)
        expected = model.get_word_vector(word)
        np.testing.assert_allclose(vectors.vector(word), expected, rtol=0, atol=1e-6, err_msg=word)


def test_equals_fasttext_without_subwords(tmp_path):
    fasttext = pytest.importorskip("fasttext")
    (tmp_path / "text").write_text("__label__a der Hund\n__label__b die Katze\n" * 9)
    model = fasttext.train_supervised(str(tmp_path / "text"), dim=6, epoch=2, thread=THREADS)
    model.save_model(str(tmp_path / "model.bin"))
    vectors = BinaryVectors(tmp_path / "model.bin")
    for word in ["der", "Hund", "die", "Katze", "</s>"]:
        np.testing.assert_allclose(vectors.vector(word), model.get_word_vector(word), atol=1e-6)
    assert vectors.vector("Hunde") is None  # fastText says zeros
    assert "__label__a" not in vectors and vectors.vector("__label__a") is None


def test_quantized_model(tmp_path):
    fasttext = pytest.importorskip("fasttext")
    lines = [f"__label__{i % 2} wort{i} der Hund{i % 7}\n" for i in range(300)]
    (tmp_path / "text").write_text("".join(lines))
    model = fasttext.train_supervised(
        str(tmp_path / "text"), dim=6, epoch=1, thread=THREADS, minn=2, maxn=3
    )
    model.quantize(input=str(tmp_path / "text"), cutoff=280, verbose=0)
    model.save_model(str(tmp_path / "model.ftz"))
    with pytest.raises(
        DataError, match=r"model\.ftz: expected full vectors, got a quantized .*\.bin"
    ):
        open_vectors(tmp_path / "model.ftz")


def test_mean_of_row_and_subwords(tmp_path):
    rows = np.arange(14, dtype=np.float32).reshape(7, 2)
    path = write_bin(tmp_path / "a.bin", ["ab", "c"], rows, subwords=(3, 3), labels=["__label__x"])
    vectors = BinaryVectors(path)
    grams = [2 + value % 5 for value in subword_hashes("ab", shortest=3, longest=3)]
    assert len(grams) == 2  # <ab ab>
    np.testing.assert_allclose(vectors.vector("ab"), rows[[0, *grams]].mean(0))
    (gram,) = (2 + value % 5 for value in subword_hashes("z", shortest=3, longest=3))  # <z>
    np.testing.assert_allclose(vectors.vector("z"), rows[gram])
    assert "__label__x" not in vectors


def test_old_classifier_has_no_subwords(tmp_path):
    rows = np.arange(12, dtype=np.float32).reshape(6, 2)
    path = write_bin(tmp_path / "a.bin", ["ab"], rows, version=11, model=3)
    np.testing.assert_array_equal(BinaryVectors(path).vector("ab"), rows[0])
    assert BinaryVectors(path).vector("abc") is None


def test_hash():
    # FNV-1a of "a" is 0xE40C292C in the published test vectors.
    assert list(subword_hashes("a", shortest=1, longest=1)) == [0xE40C292C]
    value = 2166136261
    for byte in "é".encode():
        value = ((value ^ (byte - 256) % 2**32) * 16777619) % 2**32
    assert list(subword_hashes("é", shortest=1, longest=1)) == [value]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"magic": 7}, r"a\.bin: expected a fastText model of format 11 or 12, got another kind"),
        ({"version": 13}, r"a\.bin: expected a fastText model of format 11 or 12, got format 13"),
        ({"pruned": 2}, r"a\.bin: expected full vectors, got a pruned fastText model"),
        ({"quantized": True}, r"a\.bin: expected full vectors, got a quantized fastText model"),
        ({"buckets": 4}, r"a\.bin: expected 5 rows of 2 numbers, got 6 of 2; the file is damaged"),
    ],
)
def test_unsupported_binary_files(tmp_path, options, message):
    path = write_bin(tmp_path / "a.bin", ["ab"], np.zeros((6, 2)), **options)
    with pytest.raises(DataError, match=message):
        BinaryVectors(path)


def test_a_place_beyond_all_files(tmp_path):
    whole = write_bin(tmp_path / "a.bin", ["ab"], np.zeros((6, 2))).read_bytes()
    at = struct.calcsize("<ii12idiiiq")  # the number of pruned subwords
    (tmp_path / "b.bin").write_bytes(whole[:at] + b"\xff" * 7 + b"\x7f" + whole[at + 8 :])
    with pytest.raises(DataError, match=r"b\.bin: expected at least \d{20} bytes"):
        BinaryVectors(tmp_path / "b.bin")


def test_truncated_binary_file(tmp_path):
    whole = write_bin(tmp_path / "a.bin", ["ab", "cd"], np.zeros((7, 2))).read_bytes()
    for size in range(1, len(whole)):
        (tmp_path / "b.bin").write_bytes(whole[:size])
        with pytest.raises(
            DataError, match=rf"expected at least \d+ bytes, got {size}; .*cut short"
        ):
            BinaryVectors(tmp_path / "b.bin")


def test_text_equals_fasttext(trained, tmp_path):
    _, model = trained
    rows = [
        " ".join([word, *(f"{value:.9g}" for value in model.get_word_vector(word))]) + " "
        for word in model.words
    ]
    for name, header in [("a.vec", [f"{len(rows)} 10"]), ("b.vec", [])]:
        (tmp_path / name).write_text("\n".join(header + rows) + "\n", encoding="utf-8")
        vectors = open_vectors(tmp_path / name)
        assert isinstance(vectors, TextVectors) and vectors.width == 10
        for word in model.words:
            assert word in vectors
            np.testing.assert_allclose(vectors.vector(word), model.get_word_vector(word), atol=1e-6)
        assert "Hunde" not in vectors and vectors.vector("Hunde") is None


def test_odd_words_in_text(tmp_path):
    lines = b"3 2\r\n. . 1 2\n. 3 4\n. 5 6\n\xc2\xa0x 7 8 \n\xff 9 10\n\nlast 11 -1e-3"
    (tmp_path / "a.vec").write_bytes(lines)
    vectors = TextVectors(tmp_path / "a.vec")
    assert [list(vectors.vector(word)) for word in (". .", ".", "\xa0x")] == [
        [1, 2],
        [3, 4],
        [7, 8],
    ]
    np.testing.assert_allclose(vectors.vector("last"), [11, -1e-3])
    assert vectors.vector("ÿ") is None and vectors.vector("\udcff") is None and "" not in vectors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a\.vec: expected word vectors, got an empty file"),
        ("hello\n", r"a\.vec:1: expected `word v1 v2 \.\.\.` or `words width`, got 'hello'"),
        ("5 3\na 1 2 3\nb 1 2\n", r"a\.vec:3: expected a word and 3 numbers, got 3 columns"),
        ("a 1 2 3\nb 1 zwei 3", r"a\.vec:2: expected 3 numbers after 'b', got '1 zwei 3'"),
    ],
)
def test_unsupported_text_files(tmp_path, text, message):
    (tmp_path / "a.vec").write_text(text)
    with pytest.raises(DataError, match=message):
        TextVectors(tmp_path / "a.vec").vector("b")


def test_unsupported_files(tmp_path):
    with pytest.raises(
        DataError, match=r"a\.vec\.gz: expected an uncompressed .* got \.gz; unpack"
    ):
        open_vectors(tmp_path / "a.vec.gz")
    with pytest.raises(DataError, match=r"none\.bin: no such file"):
        open_vectors(tmp_path / "none.bin")


def test_copies_and_pickles(trained, tmp_path):
    path, model = trained
    (tmp_path / "a.vec").write_text("a 1 2\n")
    for vectors, word in [(open_vectors(path), "Hund"), (open_vectors(tmp_path / "a.vec"), "a")]:
        assert copy.deepcopy(vectors) is vectors
        again = pickle.loads(pickle.dumps(vectors))
        np.testing.assert_array_equal(again.vector(word), vectors.vector(word))


def test_hash_collisions():
    from array import array

    same = hash(b"a")
    places = HashIndex(array("q", [same, 5, same]), array("q", [10, 20, 30]))
    assert len(places) == 3 and places.candidates(b"a") == [10, 30]
    assert places.candidates(b"b") == []


@given(st.text(max_size=8), st.integers(1, 4), st.integers(0, 3))
def test_subwords_equal_all_slices(word, shortest, extra):
    marked = f"<{word}>"
    longest = shortest + extra
    slices = [
        marked[start : start + n]
        for start in range(len(marked))
        for n in range(shortest, longest + 1)
        if start + n <= len(marked) and not (n == 1 and start in (0, len(marked) - 1))
    ]
    expected = []
    for piece in slices:
        value = 2166136261
        for byte in piece.encode("utf-8", "replace"):
            value = ((value ^ (byte if byte < 128 else byte + 0xFFFFFF00)) * 16777619) % 2**32
        expected.append(value)
    assert list(subword_hashes(word, shortest=shortest, longest=longest)) == expected


def test_pipes_are_refused(tmp_path):
    """A model folder names the file of its vectors, and may come from anywhere."""
    os.mkfifo(tmp_path / "a.vec")
    with pytest.raises(DataError, match="a.vec: expected a file of word vectors, got a folder,"):
        TextVectors(tmp_path / "a.vec")


def test_a_width_of_thousands_of_digits(tmp_path):
    """It is no header, so that the line is a word with one number."""
    (tmp_path / "a.vec").write_text("3 " + "9" * 5000 + "\n")
    assert open_vectors(tmp_path / "a.vec").width == 1
