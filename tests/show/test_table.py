"""Tables exactly as they are printed."""

import io

import pytest
from rich.console import Console

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.table import make_console, table_parts
from capsrl.text.phrases import with_phrases
from tests.helpers.show_sentences import contract, with_meanings

MEANINGS = {"sign.01": {"A0": "signer", "A1": "thing signed"}, "leave.01": {"A0": "goer"}}


def printed(*sentences: Sentence, **options) -> str:
    file = io.StringIO()
    make_console(file).print(*table_parts(sentences, **options))
    return file.getvalue()


def test_worked_example():
    assert printed(with_meanings(contract(), MEANINGS)) == (
        "Hiti signed the contract yesterday and left.\n"
        "  signed  sign.01  0.98  5-11\n"
        "    A0      Hiti       0.99  0-4    signer\n"
        "    A1      contract   0.97  16-24  thing signed\n"
        "    AM-TMP  yesterday  0.95  25-34\n"
        "  left  leave.01  0.60  39-43\n"
        "    A0  Hiti  0.81  0-4  goer\n"
    )


def test_definitions():
    defined = Proposition(1, "bark.01", (), 0.5, definition="make a\tnoise")
    lines = printed(Sentence(("Dogs", "bark")).with_propositions([defined])).splitlines()
    assert lines[1] == "  bark  bark.01  0.50  make a␉noise"


def test_sentences_of_a_longer_text():
    text = "Look!\nDogs   bark."
    look = Sentence(("Look", "!"), text=text, offsets=((0, 4), (4, 5)))
    bark = Sentence(("Dogs", "bark", "."), text=text, offsets=((6, 10), (13, 17), (17, 18)))
    both = (
        look.with_propositions([Proposition(0, "look.01")]),
        bark.with_propositions([Proposition(1, "bark.01", (Argument("A0", 0),))]),
    )
    expected = (
        "Look!\n  Look  look.01  0-4\n\nDogs bark.\n  bark  bark.01  13-17\n    A0  Dogs  6-10\n"
    )
    assert printed(*both) == expected
    assert printed(*(sentence.standalone() for sentence in both)) == expected


def test_trace():
    assert printed(contract(traced=True), trace=True) == (
        "Hiti signed the contract yesterday and left.\n"
        "  signed  sign.01  0.98  5-11\n"
        "                       start      1            2\n"
        "    A0      Hiti       0.50       0.75         0.99\n"
        "    A1      contract   0.25 none  0.62         0.97\n"
        "    (A1)    yesterday  0.75       0.25 AM-TMP  0.00 AM-TMP\n"
        "    AM-TMP  yesterday  0.25 A1    0.75         0.95\n"
        "    (A1)    left       0.75       0.50 none    0.10 none\n"
        "  left  leave.01  0.60  39-43\n"
        "    A0  Hiti  0.81  0-4\n"
        "\n"
        "Below start, 1, 2, ... are the probabilities of the network, which are not calibrated.\n"
        "A name after a number is the role that was most probable then.\n"
        "Roles in parentheses are not in the result.\n"
    )


def test_trace_is_optional():
    assert printed(contract(traced=True)) == printed(contract()) == printed(contract(), trace=True)


def test_trace_with_meanings():
    lines = printed(with_meanings(contract(traced=True), MEANINGS), trace=True).splitlines()
    assert lines[3].endswith("0.99         signer")
    assert lines[6].endswith("0.95")


def test_no_probabilities_and_no_text():
    read = Sentence(("Go", "on", "!"))
    first = read.with_propositions([Proposition(0, None, (Argument("A1", 1),)), Proposition(1)])
    assert printed(first, read) == (
        "Go on !\n  Go  ?\n    A1  on\n  on  ?\n\nGo on !\n  no proposition\n"
    )


def test_phrases():
    words = ("The", "old", "man", "signed", "it", ".")
    parts = (Argument("A0", 2), Argument("A1", 4))
    read = Sentence(words, heads=(2, 2, 3, None, 3, 3)).with_propositions(
        [Proposition(3, "sign.01", parts)]
    )
    assert printed(with_meanings(with_phrases(read), MEANINGS)).splitlines()[2:] == [
        "    A0  man  The old man  signer",
        "    A1  it   it           thing signed",
    ]
    assert "The old man" not in printed(read).splitlines()[2]
    assert str(read).splitlines()[2] == "    A0  man  The old man"
    assert "The old man" in read._repr_html_()


def test_wide_characters_are_aligned():
    words = ("首次", "邀請", "A")
    parts = (Argument("A0", 0, 0.5), Argument("A1", 2, 0.25))
    lines = printed(Sentence(words).with_propositions([Proposition(1, "x", parts)])).splitlines()
    assert lines[2:] == ["    A0  首次  0.50", "    A1  A     0.25"]


def test_escape_sequences_are_made_visible():
    shown = printed(Sentence(("\x1b[31mred", "\ud800", "[bold]", ":smile:")))
    assert shown.splitlines()[0] == "␛[31mred \ufffd [bold] :smile:"


def test_long_words_and_sentences():
    address = "http://" + "x" * 200
    part = Proposition(1, "see.01", (Argument("A1", 0, 0.5),), 0.5)
    lines = printed(Sentence((address, "see", *["word"] * 50)).with_propositions([part])).split(
        "\n"
    )
    assert max(map(len, lines)) <= 100
    assert not any(line.endswith(" ") for line in lines)
    assert "    A1  " + address[:39] + "…  0.50" in lines


def test_long_meanings_wrap():
    meanings = {"sign.01": {"A0": " ".join(["long"] * 30)}}
    lines = printed(with_meanings(contract(), meanings)).splitlines()
    assert lines[3].startswith("    long long")


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"])
def test_environment_is_ignored_for_files(monkeypatch, variable):
    plain = printed(contract())
    monkeypatch.setenv(variable, "1")
    assert printed(contract()) == plain


def test_terminals_get_colors():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    file = Terminal()
    console = make_console(file)
    assert isinstance(console, Console) and console.is_terminal
    file = io.StringIO()
    Console(file=file, force_terminal=True, color_system="standard").print(
        *table_parts([contract()])
    )
    assert "\x1b[1;32mA0" in file.getvalue()


def test_a_guess_has_a_question_mark():
    read = Sentence(("It", "snorfled")).with_propositions(
        [Proposition(1, "snore.01", probability=0.4, guessed=True)]
    )
    note = "A sense with ? is a guess: its lemma is in neither PropBank nor the training corpus."
    assert printed(read).splitlines()[1:] == ["  snorfled  snore.01?  0.40", "", note]
    assert printed(contract(), read, read).count(note) == 1
    assert note not in printed(contract())
