"""Count the sentences that a model labels wholly right, and its arguments, by genre.

    python -m benchmarks.genre_texts [MODEL] [--failures]

`genre_texts.toml`, beside this file, has headlines, chat, instructions, sports and medical notes
written for capsrl, with all their propositions of verbs. Texts are labeled one by one as a user
would give them. A text is right if its predicates, senses and arguments are exactly those of the
file; propositions of nouns and adjectives that the file does not name are ignored. Of each genre
every second text, from the first on, is in the part `dev`, for choosing; the others are in `test`.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import capsrl
from benchmarks.challenge import Answer, Case, answer, read_challenge
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import predicate_pos

TEXTS = Path(__file__).with_suffix(".toml")
PARTS = ("dev", "test")


@dataclass(frozen=True)
class Labels:
    """What is said of a text: word numbers, senses by predicate, (predicate, role, head)."""

    senses: dict[int, str | None]
    arguments: frozenset[tuple[int, str, int]]


@dataclass(frozen=True)
class Result:
    """A text with its labels in the file and those of a model."""

    case: Case
    words: Sequence[str]
    gold: Labels
    found: Labels

    @property
    def is_right(self) -> bool:
        """Whether predicates, senses and arguments are all the same."""
        return self.gold == self.found

    def differences(self) -> Iterator[str]:
        """What is missing (-) and what should not be there (+)."""
        for sign, one, other in (("-", self.gold, self.found), ("+", self.found, self.gold)):
            for predicate, sense in one.senses.items():
                if other.senses.get(predicate) != sense:
                    yield f"{sign}{self.words[predicate]} = {sense}"
            for predicate, role, head in sorted(one.arguments - other.arguments):
                yield f"{sign}{self.words[predicate]}: {role} {self.words[head]}"


def judge(case: Case, sentences: Sequence[Sentence]) -> Result:
    """Compare a text of the file with its labeled sentences."""
    given = answer(sentences)
    gold = _gold_labels(case, given)
    # Without a tagger every predicate is taken for a verb.
    tags = [tag for each in sentences for tag in each.tags or ["VERB"] * len(each.words)]
    judged = {
        at: proposition
        for at, proposition in given.propositions.items()
        if at in gold.senses or predicate_pos(tags[at]) == "verb"
    }
    found = Labels(
        {at: proposition.sense for at, proposition in judged.items()},
        frozenset((at, role, head) for at in judged for role, head in given.arguments(at)),
    )
    return Result(case, given.words, gold, found)


def _gold_labels(case: Case, given: Answer) -> Labels:
    def number(word: str) -> int:
        found = given.position(word)
        assert found is not None, f"{case.text}: no word {word}"
        return found

    senses = {number(fact.predicate): fact.value for fact in case.facts if fact.kind == "sense"}
    return Labels(
        dict(senses),
        frozenset(
            (number(fact.predicate), fact.role, number(fact.value))
            for fact in case.facts
            if fact.role is not None
        ),
    )


def parts_of(cases: Iterable[Case]) -> list[str]:
    """The part of each text: alternately dev and test within its genre."""
    counts: dict[str, int] = defaultdict(int)
    parts = []
    for case in cases:
        parts.append(PARTS[counts[case.phenomenon] % 2])
        counts[case.phenomenon] += 1
    return parts


def table(results: Iterable[Result]) -> Iterator[str]:
    """The lines of the table: texts that are right, and arguments, by genre."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.case.phenomenon].append(result)
    yield (
        f"{'genre':14} {'texts':>6} {'right':>6} {'%':>6} {'arguments':>10} "
        f"{'precision':>9} {'recall':>6} {'F1':>6}"
    )
    for name, group in groups.items():
        yield _row(name, group)
    yield _row("all", [result for group in groups.values() for result in group])


def _row(name: str, results: Sequence[Result]) -> str:
    n_right = sum(result.is_right for result in results)
    n_gold = sum(len(result.gold.arguments) for result in results)
    n_found = sum(len(result.found.arguments) for result in results)
    n_both = sum(len(result.gold.arguments & result.found.arguments) for result in results)
    return (
        f"{name:14} {len(results):6} {n_right:6} {100 * n_right / len(results):6.1f} {n_gold:10} "
        f"{100 * n_both / max(n_found, 1):9.1f} {100 * n_both / max(n_gold, 1):6.1f} "
        f"{200 * n_both / max(n_gold + n_found, 1):6.1f}"
    )


def main() -> None:
    """Label the texts and print a table for each part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", nargs="?", help="a model folder; the model that ships by default")
    parser.add_argument(
        "--failures", action="store_true", help="list the differences in the part dev"
    )
    options = parser.parse_args()
    cases = read_challenge(TEXTS)
    labeler = capsrl.load(*[options.model] if options.model else [])
    labeled = labeler.label_many(case.text for case in cases)
    results = [judge(case, list(each)) for case, each in zip(cases, labeled, strict=True)]
    parts = parts_of(cases)
    for name in PARTS:
        members = [result for result, part in zip(results, parts, strict=True) if part == name]
        print(f"{name}:", *table(members), "", sep="\n")
        if options.failures and name == "dev":
            for result in members:
                if not result.is_right:
                    print(f"[{result.case.phenomenon}] {result.case.text}")
                    print(f"    {'; '.join(result.differences())}")
            print()


if __name__ == "__main__":
    main()
