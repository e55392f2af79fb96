"""Facts of propositions: 200 sentences with expected facts, and the rules one by one."""

from pathlib import Path
from typing import NamedTuple

import pytest

from capsrl import Proposition

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


def test_facts_of_200_sentences(wrong):
    for case, got in wrong:
        print("expected", *case, "\n     got", *(got or ()))  # noqa: T201
    assert len(cases()) == 200
    assert len(wrong) <= 10  # 95 % right
