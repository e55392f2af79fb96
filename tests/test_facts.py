"""Facts of propositions: 488 sentences with expected facts, and the rules one by one."""

from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

import capsrl
from capsrl import Argument, Proposition, Sentence
from capsrl.cli import app
from tests.helpers.pages import BLOCK, ROOT, read, run_python_blocks

CASES = Path(__file__).parent / "fixtures" / "facts.txt"


class Case(NamedTuple):
    text: str
    predicate: str
    lemma: str
    negated: str
    modal: str
    voice: str
    tense: str
    argument: str


def cases() -> list[Case]:
    lines = CASES.read_text("utf-8").splitlines()
    return [Case(*map(str.strip, line.split("|"))) for line in lines if not line.startswith("#")]


def facts_of(proposition: Proposition, case: Case) -> Case:
    """What the proposition says, in the form of the case."""
    role, _, _ = case.argument.partition("=")
    found = proposition.get(role)
    marker = f"{found.marker}:" if found and found.marker else ""
    return case._replace(
        lemma=proposition.lemma,
        negated="yes" if proposition.negated else "no",
        modal=proposition.modal or "-",
        voice=proposition.voice or "-",
        tense=proposition.tense or "-",
        argument=f"{role}={marker}{found.text}" if found else "-",
    )


@pytest.fixture(scope="module")
def wrong(labeler) -> list[tuple[Case, Case | None]]:
    """The cases whose facts differ, with the facts that were found."""
    chosen, found = cases(), []
    labeled = labeler.label([case.text for case in chosen])
    for case, sentences in zip(chosen, labeled, strict=True):
        known = [each for sentence in sentences for each in sentence.facts]
        got = [facts_of(each, case) for each in known if each.form == case.predicate]
        if case not in got:
            found.append((case, got[0] if got else None))
    return found


def test_facts_of_sentences(wrong):
    for case, got in wrong:
        print("expected", *case, "\n     got", *(got or ()))  # noqa: T201
    assert len(cases()) == 488
    assert len(wrong) <= 24  # 95 % right


def test_roles_that_are_missing():
    proposition = Proposition(0, "go.01")
    assert proposition.get("A0") is None and "A0" not in proposition
    with pytest.raises(KeyError, match="A0"):
        proposition["A0"]


def test_continued_arguments_are_joined():
    arguments = [Argument("A1", 0), Argument("C-A1", 2)]
    [proposition] = Sentence(["Rain", "fell", "hard"], [Proposition(1, "fall.01", arguments)]).facts
    assert proposition["A1"].text == "Rain hard"


def test_a_proposition_moves_to_another_sentence():
    proposition = Proposition(1, "go.01", (Argument("A0", 0),))
    first = Sentence(["They", "go"], [proposition])
    second = Sentence(["We", "go"], first.propositions)
    texts = [each.propositions[0]["A0"].text for each in (first, second)]
    assert texts == ["They", "We"]


def test_nouns_of_light_verbs_are_kept_with_verbs(labeler):
    [sentence] = labeler.label("The mayor gave a speech about a plan.", pos=["verb"])
    [fact] = sentence.facts
    assert (fact.lemma, fact["A0"].text) == ("give_speech", "The mayor")
    assert labeler.label("The decision of the court was sold.", pos=["verb"])[0].predicates == (6,)


def test_labeled_text(labeler):
    labeled = labeler.label("Dogs bark. Cats sleep.")
    assert [each.text for each in labeled] == ["Dogs bark.", "Cats sleep."]
    assert labeled[0].lemmas == ("dog", "bark", ".")
    assert labeled._repr_html_().count('class="capsrl"') == 2
    many = labeler.label(["Dogs bark."] * 26)
    assert "1 more sentences" in many._repr_html_()


def test_rows_of_propositions(labeler):
    frame = capsrl.to_frame(
        labeler.label("Ann gave a talk in May. The box was lost by DHL."), rows="proposition"
    )
    assert list(frame["lemma"]) == ["give_talk", "lose"]
    assert list(frame["A0"]) == ["Ann", "DHL"]
    with pytest.raises(capsrl.ConfigError, match="rows: expected argument or proposition"):
        capsrl.to_frame([], rows="word")


def section(title):
    """The Python blocks of a section of the page."""
    _, _, rest = read("docs/facts.md").partition(f"## {title}\n")
    blocks = BLOCK.findall(rest.partition("\n## ")[0])
    return [code for _, language, code in blocks if language == "python"]


def test_the_code_of_the_page(tmp_path, monkeypatch):
    for name in ("pandas", "polars", "duckdb", "matplotlib", "spacy"):
        pytest.importorskip(name)
    (tmp_path / "reviews.csv").write_bytes((ROOT / "examples" / "reviews.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    [command] = [line for line in read("docs/facts.md").splitlines() if line.startswith("$ ")]
    assert CliRunner().invoke(app, command.split()[2:]).exit_code == 0
    assert run_python_blocks("docs/facts.md") > 40
    assert all((tmp_path / f"{name}.svg").is_file() for name in ("pandas", "duckdb", "polars"))


def test_the_code_of_the_page_is_short():
    texts, *questions = section("Five questions")
    assert "labeler" not in texts and len(questions) == 5
    for code in questions:
        loading = 2 if "labeler" in code else 0  # the lines that import and load
        assert len(list(filter(None, code.splitlines()))) + loading <= 10
    lengths = [
        len(list(filter(None, each.splitlines()))) for each in section("From reviews to a chart")
    ]
    assert len(lengths) == 3 and max(lengths) <= 15


@pytest.mark.parametrize("tag", ["VBZ", "VBN", "VBD", "POS"])
def test_contractions_alone(tag):
    """Whatever the tagger says."""
    proposition = Proposition(1, "be.01", (Argument("A0", 0), Argument("A1", 2)))
    [fact] = Sentence(["He", "'s", "it"], [proposition], tags=["PRP", tag, "PRP"]).facts
    assert fact.modal is None and fact.voice in ("active", "passive", None)
