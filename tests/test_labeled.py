"""What `label` returns, as notebooks show it."""

from capsrl.labeled import Labeled
from capsrl.sentence import Argument, Proposition, Sentence

BARKS = Sentence(("Dogs", "bark"), (Proposition(1, "bark.01", (Argument("A0", 0),)),))


def test_notebooks_show_the_sentences_of_one_text_and_of_several():
    shown = Labeled([BARKS, BARKS])._repr_html_()
    assert shown.count("<svg") == 2 and "bark.01" in shown and "more" not in shown
    assert Labeled([[BARKS], [], [BARKS]])._repr_html_() == shown
    assert Labeled([]) == [] and Labeled([])._repr_html_() == ""


def test_notebooks_show_some_of_many():
    shown = Labeled([[BARKS] * 20, [BARKS] * 7])._repr_html_()
    assert shown.count("<svg") == 25 and shown.endswith("<p>2 more sentences</p>")
