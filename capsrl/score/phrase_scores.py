"""Score the phrases of arguments by the rules of CoNLL-2005, equal to its script srl-eval.pl.

- An argument is right if its role and its words are right. The words are those of its phrase, or
  its head word if it has no phrase.
- C-A1 is not an argument of its own: it continues the last A1 that begins before it, and both are
  right only together. Without such an A1 it is an A1 itself. R-A1 is an argument like others.
- The predicate is an argument V, which C-V continues. V is counted, but not in the overall figures.
- Predicates are compared by position, whatever their sense. The arguments of a predicate that was
  not found are missed. The script ignores those of a predicate that gold does not have, since it
  was made for given predicates; the end-to-end figures count them as wrong.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from capsrl.errors import DataError
from capsrl.score.counts import PRF, percent
from capsrl.sentence import Argument, Proposition, Sentence

WordRange = tuple[int, int]  # the first and the last word of a phrase
Joined = tuple[str, tuple[WordRange, ...]]  # the role and the phrases of an argument

PREDICATE = "V"
_CONTINUES = "C-"


@dataclass(slots=True)
class PhraseScores:
    """The scores of phrases over a corpus.

    overall      all roles but V, as srl-eval.pl prints them
    end_to_end   the same, where arguments of predicates that gold does not have are wrong
    roles        role -> its scores, V included
    gold_propositions, exact_propositions  how many there are in gold, and those with all arguments
                 right and none too many
    same_heads   gold arguments at whose head word the prediction has an argument of the predicate
    same_phrases those of them that also have the same first and last word
    gold_heads, pred_heads  arguments without a phrase, of which the head word was scored
    """

    overall: PRF = field(default_factory=PRF)
    end_to_end: PRF = field(default_factory=PRF)
    roles: dict[str, PRF] = field(default_factory=dict)
    gold_propositions: int = 0
    exact_propositions: int = 0
    same_heads: int = 0
    same_phrases: int = 0
    gold_heads: int = 0
    pred_heads: int = 0

    @property
    def boundaries(self) -> float:
        """Percentage of the arguments with the right head that also have the right boundaries."""
        return percent(self.same_phrases, self.same_heads)

    @property
    def exact_match(self) -> float:
        """Percentage of the gold propositions whose arguments are all right."""
        return percent(self.exact_propositions, self.gold_propositions)

    def by_role(self) -> dict[str, PRF]:
        """The scores of each role but V, the most frequent first."""
        counted = [(role, prf) for role, prf in self.roles.items() if role != PREDICATE]
        return dict(sorted(counted, key=lambda item: (-item[1].gold, item[0])))

    def add(self, gold: Sentence, pred: Sentence) -> None:
        """Count one sentence; raises DataError where two propositions share a predicate."""
        golds, preds = _by_predicate(gold), _by_predicate(pred)
        self.gold_heads += _count_heads(golds)
        self.pred_heads += _count_heads(preds)
        for predicate, proposition in golds.items():
            self._add(proposition, preds.get(predicate))
        for predicate in preds.keys() - golds.keys():
            roles = [role for role, _ in join_continuations(preds[predicate])]
            self.end_to_end.pred += len(roles) - roles.count(PREDICATE)

    def _add(self, gold: Proposition, pred: Proposition | None) -> None:
        golds = Counter(join_continuations(gold))
        preds = Counter() if pred is None else Counter(join_continuations(pred))
        exact = True
        for argument in golds | preds:
            role, n_gold, n_pred = argument[0], golds[argument], preds[argument]
            places = [self.roles.setdefault(role, PRF())]
            if role != PREDICATE:
                places += [self.overall, self.end_to_end]
                exact = exact and n_gold == n_pred
            for prf in places:
                prf.correct += min(n_gold, n_pred)
                prf.gold += n_gold
                prf.pred += n_pred
        self.gold_propositions += 1
        self.exact_propositions += exact
        if pred is not None:
            self._add_boundaries(gold, pred)

    def _add_boundaries(self, gold: Proposition, pred: Proposition) -> None:
        at: dict[int, set[WordRange]] = {}
        for argument in pred.arguments:
            at.setdefault(argument.word, set()).add(_word_range(argument))
        for argument in gold.arguments:
            if argument.word in at:
                self.same_heads += 1
                self.same_phrases += _word_range(argument) in at[argument.word]


def join_continuations(proposition: Proposition) -> Iterator[Joined]:
    """Yield the arguments of a proposition, V among them, each with all its phrases.

    Phrases are looked at in the order of their first words, of which the longest comes first.
    """
    phrases = [((proposition.predicate, proposition.predicate), PREDICATE)]
    phrases += [(_word_range(argument), argument.role) for argument in proposition.arguments]
    joined: list[tuple[str, list[WordRange]]] = []
    last: dict[str, list[WordRange]] = {}  # by role, the phrases of the argument that began last
    for words, role in sorted(phrases, key=lambda each: (each[0][0], -each[0][1])):
        continued = role.removeprefix(_CONTINUES)
        if continued != role and continued in last:
            last[continued].append(words)
        else:
            last[continued] = [words]
            joined.append((continued, last[continued]))
    return ((role, tuple(words)) for role, words in joined)


def _by_predicate(sentence: Sentence) -> Mapping[int, Proposition]:
    found = {proposition.predicate: proposition for proposition in sentence.propositions}
    if len(found) < len(sentence.propositions):
        [(twice, _)] = Counter(sentence.predicates).most_common(1)
        raise DataError(
            f"{' '.join(sentence.words)!r}: expected one proposition per predicate, got two "
            f"at word {twice + 1}"
        )
    return found


def _count_heads(propositions: Mapping[int, Proposition]) -> int:
    return sum(
        argument.phrase is None
        for proposition in propositions.values()
        for argument in proposition.arguments
    )


def _word_range(argument: Argument) -> WordRange:
    phrase = argument.phrase
    return (argument.word, argument.word) if phrase is None else (phrase.first, phrase.last)
