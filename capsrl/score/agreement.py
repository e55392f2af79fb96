"""How far two annotators agree beyond chance: Cohen's kappa of predicates, senses and roles.

Counted as for PropBank (Palmer, Gildea and Kingsbury, 2005): whether a word is an argument, its
role where it is one for both, and the two at once. Arguments are those of predicates of both.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from capsrl.score.matching import Mode, match_sentence
from capsrl.score.mistakes import Confusion
from capsrl.sentence import Sentence

_Pairs = Counter[tuple[object, object]]  # labels of the first and of the second -> items


@dataclass(frozen=True, slots=True)
class Kappa:
    """The agreement on the labels of items.

    observed  share of the items with the same label
    chance    share to be expected if both chose labels at random, each as often as they did
    kappa     (observed - chance) / (1 - chance); None without items, or if all have one label
    """

    observed: float
    chance: float
    items: int
    kappa: float | None

    @classmethod
    def of(cls, pairs: Mapping[tuple[object, object], int]) -> "Kappa":
        """Count pairs of labels."""
        n, second = sum(pairs.values()), Counter[object]()
        for (_, label), count in pairs.items():
            second[label] += count
        same = sum(count for (ours, theirs), count in pairs.items() if ours == theirs)
        alike = sum(count * second[ours] for (ours, _), count in pairs.items())
        kappa = (same * n - alike) / (n * n - alike) if alike < n * n else None
        return cls(same / max(n, 1), alike / max(n * n, 1), n, kappa)


def score_agreement(
    first: Iterable[Sentence], second: Iterable[Sentence], mode: Mode = "official"
) -> dict[str, Kappa]:
    """Compare two annotations of the same sentences; senses as the mode does, by number or whole.

    Gives the kappa of predicates, senses, arguments (is a word one?), roles, and of the last two.
    """
    predicates, senses, words = _Pairs(), _Pairs(), _Pairs()  # words: role or None
    for ours, theirs in zip(first, second, strict=True):
        matches = match_sentence(ours, theirs, mode)
        predicates[False, False] += len(ours) - len(matches)
        for match in matches:
            predicates[match.gold is not None, match.pred is not None] += 1
            if match.gold is not None and match.pred is not None:
                senses[match.gold.key, match.pred.key] += 1
                counted = Confusion()
                counted.add([match])
                words.update(counted.roles)
                arcs = match.gold.arguments | match.pred.arguments
                words[None, None] += len(ours) - len({word for _, found in arcs for word in found})
    arguments = _Pairs()
    for (role, other), count in words.items():
        arguments[role is not None, other is not None] += count
    roles = {pair: count for pair, count in words.items() if None not in pair}
    kinds = {"predicates": predicates, "senses": senses, "arguments": arguments, "roles": roles}
    return {name: Kappa.of(kind) for name, kind in (kinds | {"arguments and roles": words}).items()}
