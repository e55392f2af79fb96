"""Count the facts of the challenge set that a model finds, by phenomenon.

    python -m benchmarks.challenge [MODEL] [--failures]

`challenge.toml`, beside this file, has sentences written for capsrl and what must be found in
them; docs/english.md describes it. The texts are labeled one by one as a user would give them:
sentences, words and predicates are found by the model. A case is right when all its facts hold.
"""

import argparse
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import capsrl
from capsrl.errors import DataError
from capsrl.sentence import Proposition, Sentence

CHALLENGE = Path(__file__).with_suffix(".toml")
ANY = "*"
CASE_KEYS = ("text", "find", "absent")
Kind = Literal["predicate", "sense", "role", "absent"]
KINDS: tuple[Kind, ...] = ("predicate", "sense", "role", "absent")


@dataclass(frozen=True)
class Fact:
    """Something that must hold, or with kind "absent" must not hold, in a labeled text.

    kind       predicate: `predicate` is one; sense: it has `value`; role: `value` has `role`
    predicate  a word of the text; "word#2" is its second occurrence
    role       for kind "role", or "absent" if not the predicate itself must be absent;
               "R-*" is any role that begins with R-
    value      the sense or the head word; "*" is any word
    """

    kind: Kind
    predicate: str
    role: str | None = None
    value: str = ""

    def __str__(self) -> str:
        if self.kind == "predicate":
            return self.predicate
        if self.kind == "sense":
            return f"{self.predicate} = {self.value}"
        tail = f": {self.role} {self.value}" if self.role else ""
        return f"{'not ' if self.kind == 'absent' else ''}{self.predicate}{tail}"


@dataclass(frozen=True)
class Case:
    """A text of the challenge set and the facts that must hold in it."""

    phenomenon: str
    text: str
    facts: tuple[Fact, ...]


@dataclass
class Answer:
    """What a model found in a text: its words and, by position, its propositions."""

    words: list[str] = field(default_factory=list)
    propositions: dict[int, Proposition] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)  # predicate -> start of its sentence

    def position(self, word: str) -> int | None:
        """The position of a word, given as "word" or "word#2"; None if the text has none such."""
        form, _, count = word.partition("#")
        places = [at for at, each in enumerate(self.words) if each == form]
        number = int(count or 1)
        return places[number - 1] if number <= len(places) else None

    def arguments(self, predicate: int) -> Iterator[tuple[str, int]]:
        """The roles of a predicate and the positions of their heads."""
        if predicate in self.propositions:
            for argument in self.propositions[predicate].arguments:
                yield argument.role, self.starts[predicate] + argument.word


@dataclass(frozen=True)
class Result:
    """A case and those of its facts that do not hold."""

    case: Case
    failures: tuple[Fact, ...]


def read_challenge(path: Path = CHALLENGE) -> list[Case]:
    """Read a challenge file; raises DataError naming the case that is wrong."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path}: expected TOML, got {error}") from None
    return [
        _case(name, entry, f"{path}: {name} {number}")
        for name, entries in tables.items()
        for number, entry in enumerate(entries, start=1)
    ]


def _case(phenomenon: str, entry: Mapping[str, Any], source: str) -> Case:
    unknown = sorted(entry.keys() - set(CASE_KEYS))
    if unknown or not entry.get("text") or not (entry.get("find") or entry.get("absent")):
        got = f"the key {unknown[0]!r}" if unknown else f"the keys {sorted(entry)}"
        raise DataError(f"{source}: expected a text and 'find' or 'absent', got {got}")
    found = [fact for each in entry.get("find", []) for fact in _found(each, source)]
    absent = [fact for each in entry.get("absent", []) for fact in _absent(each, source)]
    return Case(phenomenon, entry["text"], (*found, *absent))


def _found(entry: Mapping[str, Any], source: str) -> Iterator[Fact]:
    word = _word(entry, source)
    yield Fact("predicate", word)
    if "sense" in entry:
        yield Fact("sense", word, value=entry["sense"])
    for role, head in _roles(entry):
        yield Fact("role", word, role, head)


def _absent(entry: Mapping[str, Any], source: str) -> Iterator[Fact]:
    word = _word(entry, source)
    if "sense" in entry:
        raise DataError(f"{source}: expected a word and roles in 'absent', got a sense")
    if len(entry) == 1:
        yield Fact("absent", word)
    for role, head in _roles(entry):
        yield Fact("absent", word, role, head)


def _word(entry: Mapping[str, Any], source: str) -> str:
    if not isinstance(entry.get("word"), str):
        raise DataError(f"{source}: expected the predicate as 'word', got {dict(entry)}")
    return str(entry["word"])


def _roles(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for role, heads in entry.items():
        if role not in ("word", "sense"):
            for head in [heads] if isinstance(heads, str) else heads:
                yield role, head


def answer(sentences: Iterable[Sentence]) -> Answer:
    """Join the sentences that a text was split into."""
    whole = Answer()
    for sentence in sentences:
        start = len(whole.words)
        whole.words.extend(sentence.words)
        for proposition in sentence.propositions:
            whole.propositions[start + proposition.predicate] = proposition
            whole.starts[start + proposition.predicate] = start
    return whole


def holds(fact: Fact, given: Answer) -> bool:
    """Whether a fact holds in a labeled text. A word that the text was not split into has none."""
    predicate = given.position(fact.predicate)
    proposition = None if predicate is None else given.propositions.get(predicate)
    if predicate is None or proposition is None:
        return fact.kind == "absent" and predicate is not None
    if fact.kind == "predicate":
        return True
    if fact.kind == "sense":
        return proposition.sense == fact.value
    if fact.role is None:
        return False
    found = any(_fits(fact, role, head, given) for role, head in given.arguments(predicate))
    return found == (fact.kind == "role")


def _fits(fact: Fact, role: str, head: int, given: Answer) -> bool:
    assert fact.role is not None
    wanted = fact.role.removesuffix(ANY)
    same_role = role.startswith(wanted) if fact.role.endswith(ANY) else role == wanted
    return same_role and (fact.value == ANY or head == given.position(fact.value))


def judge(case: Case, sentences: Iterable[Sentence]) -> Result:
    """Compare a case with its labeled sentences."""
    given = answer(sentences)
    return Result(case, tuple(fact for fact in case.facts if not holds(fact, given)))


def table(results: Sequence[Result]) -> Iterator[str]:
    """The lines of the table: cases that are right and facts that hold, by phenomenon."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.case.phenomenon].append(result)
    yield f"{'phenomenon':24} {'cases':>6} {'right':>6} {'%':>6} {'facts':>6} {'found':>6} {'%':>6}"
    for name, group in groups.items():
        yield _row(name, group)
    yield _row("all", results)


def _row(name: str, results: Sequence[Result]) -> str:
    right = sum(not result.failures for result in results)
    n_facts = sum(len(result.case.facts) for result in results)
    n_found = n_facts - sum(len(result.failures) for result in results)
    return (
        f"{name:24} {len(results):6} {right:6} {100 * right / len(results):6.1f} "
        f"{n_facts:6} {n_found:6} {100 * n_found / n_facts:6.1f}"
    )


def kinds(results: Sequence[Result]) -> Iterator[str]:
    """One line for each kind of fact: how many hold."""
    for kind in KINDS:
        n_facts = sum(fact.kind == kind for result in results for fact in result.case.facts)
        n_failed = sum(fact.kind == kind for result in results for fact in result.failures)
        if n_facts:
            share = 100 * (n_facts - n_failed) / n_facts
            yield f"{kind:24} {n_facts:6} {n_facts - n_failed:6} {share:6.1f}"


def failures(results: Iterable[Result]) -> Iterator[str]:
    """The cases that are not right, with the facts that do not hold."""
    for result in results:
        if result.failures:
            yield f"[{result.case.phenomenon}] {result.case.text}"
            yield f"    {'; '.join(map(str, result.failures))}"


def main() -> None:
    """Label the challenge set and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", nargs="?", help="a model folder; the model that ships by default")
    parser.add_argument("--failures", action="store_true", help="list the facts that do not hold")
    options = parser.parse_args()
    cases = read_challenge()
    labeler = capsrl.load(*[options.model] if options.model else [])
    labeled = labeler.label_many(case.text for case in cases)
    results = [judge(case, each) for case, each in zip(cases, labeled, strict=True)]
    lines = [*table(results), "", f"{'kind of fact':24} {'facts':>6} {'found':>6} {'%':>6}"]
    lines += kinds(results)
    if options.failures:
        lines += ["", *failures(results)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
