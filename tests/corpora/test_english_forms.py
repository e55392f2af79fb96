"""The table of the lemmatizer; the lines are in the format of LemmInflect."""

from capsrl.frames.index import FrameIndex, Roleset
from capsrl.text.lemmatizer import parse_forms
from corpora.english_forms import HEADER, TABLE, make_table

LINES = """\
'm,aux,be
was,aux,be
could,aux,can
Bonn,noun,Bonn
bleed,verb,bleed
bled,verb,bleed
exceeds,verb,exceed
found,verb,find/found
consisted,verb,consist/consisted
consists,verb,consist
taped,verb,tape
taps,verb,tap
re-send,verb,re-send
crises,noun,crisis
dogs,noun,dog
better,adj,good/well
happier,adj,happy
happy,adj,happy
old,adj,old
""".splitlines()
FRAMES = FrameIndex.from_rolesets(
    [
        Roleset("belie.01", (("v", "belie"), ("n", "belying"))),
        Roleset("tap_out.02", (("v", "tap_out"), ("v", "tapping"))),
    ]
)


def test_lemmas_and_what_the_rules_get_wrong():
    assert list(make_table(LINES, FRAMES)) == [
        *HEADER,
        "v be was",
        "v belie",
        "v bleed bled",
        "v consist",
        "v exceed",
        "v find found",
        "v found",
        "v tap",
        "v tape",
        "n crisis crises",
        "j good better",
        "j happy",
    ]


def test_the_table_that_ships_has_the_header_and_is_sorted():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert tuple(lines[: len(HEADER)]) == HEADER
    rows = [line.split() for line in lines[len(HEADER) :]]
    assert rows == sorted(rows, key=lambda row: ("vnj".index(row[0]), row[1]))
    assert len(parse_forms("\n".join(lines)).lemmas["verb"]) > 6000
