import sys
from itertools import count

import pandas
import polars
import pytest

import capsrl
from capsrl.errors import ConfigError, DataError
from capsrl.sentence import Sentence
from capsrl.tables.cells import argument_rows
from capsrl.tables.columns import ARGUMENT_COLUMNS
from tests.tables.test_cells import SENTENCE

NAMES = [column.name for column in ARGUMENT_COLUMNS if column.name != "error"]
BARE = Sentence(("Go", "!"))


def cells_of(frame):
    """The rows of a frame with None for what is missing, whatever the library has for it."""
    if isinstance(frame, polars.DataFrame):
        return frame.to_dicts()
    frame = frame.astype(object)
    return frame.where(frame.notna(), None).to_dict("records")


def expected(*groups):
    rows = []
    for document, sentences in groups:
        for number, sentence in enumerate(sentences, start=1):
            rows += argument_rows(sentence, document=document, number=number)
        if not sentences:
            rows += argument_rows(None, document=document)
    return [{name: row[name] for name in NAMES} for row in rows]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("given", "documents", "groups"),
    [
        ([SENTENCE, BARE], None, [(0, [SENTENCE, BARE])]),
        ([[SENTENCE, BARE], [], [BARE]], None, [(0, [SENTENCE, BARE]), (1, []), (2, [BARE])]),
        ([[BARE], []], ["x", "y"], [("x", [BARE]), ("y", [])]),
        ([("x", [BARE]), ("y", [SENTENCE])], None, [("x", [BARE]), ("y", [SENTENCE])]),
        ([(BARE, BARE)], ["x"], [("x", [BARE, BARE])]),
    ],
)
def test_frames(library, given, documents, groups):
    frame = capsrl.to_frame(iter(given), documents=documents, library=library)
    assert list(frame.columns) == NAMES
    assert cells_of(frame) == expected(*groups)


def test_one_text_is_the_first_of_several(labeler):
    alone = capsrl.to_frame(labeler.label("Dogs bark. Go!"), library="polars")
    assert alone.equals(capsrl.to_frame(labeler.label(["Dogs bark. Go!"]), library="polars"))


def test_types():
    frame = capsrl.to_frame([[SENTENCE], [BARE]])
    assert isinstance(frame, pandas.DataFrame)
    assert str(frame["document"].dtype) == "int64"
    assert str(frame["head_start"].dtype) == "Int64"
    assert str(frame["guessed"].dtype) == "boolean"
    assert str(frame["argument_probability"].dtype) == "float64"
    frame = capsrl.to_frame([[SENTENCE], [BARE]], library="polars")
    assert frame.schema["head_word"] == polars.Int32
    assert frame.schema["frames"] == polars.List(polars.String)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_no_sentences(library):
    frame = capsrl.to_frame([], library=library)
    assert frame.shape == (0, len(NAMES))


def test_a_column_of_a_frame(labeler):
    reviews = pandas.DataFrame({"review": ["Mira left.", None, ""]}, index=[10, 20, 30])
    labeled = labeler.label_many(reviews["review"], missing="empty")
    frame = capsrl.to_frame(labeled, documents=reviews.index)
    merged = frame.merge(reviews, left_on="document", right_index=True, how="outer")
    assert merged["document"].tolist() == [10, 20, 30]
    assert merged["predicate"].fillna("").tolist() == ["left", "", ""]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([BARE], {"library": "excel"}, "library: expected pandas or polars, got 'excel'"),
        ([BARE], {"documents": [1]}, "documents: needs several texts, not the sentences of one"),
        ([[BARE], [BARE]], {"documents": [1]}, "documents: expected 2, one for each text, got 1"),
        ([[BARE]], {"documents": [1, 2]}, "documents: expected 1, one for each text, got 2"),
        (
            iter([[BARE], [BARE]]),
            {"documents": [1]},
            "documents: expected one for each text, got 1 for more texts",
        ),
        ([[BARE]], {"documents": count()}, "documents: expected 1, one for each text, got more"),
        (["text"], {}, "sentences: expected lists of Sentences, got 'text'"),
        ([["text"]], {}, "sentences: expected Sentences, got 'text'"),
    ],
)
def test_mistakes(given, options, message):
    with pytest.raises((ConfigError, DataError), match=message):
        capsrl.to_frame(given, **options)


def test_without_the_libraries(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "pandas")
    monkeypatch.delitem(sys.modules, "polars")
    with pytest.raises(ConfigError, match="to_frame: needs pandas or polars: pip install pandas"):
        capsrl.to_frame([BARE])
    with pytest.raises(ConfigError, match="to_frame: needs polars: pip install polars"):
        capsrl.to_frame([BARE], library="polars")
