"""Plan the batches of an epoch: the corpus, partially annotated sentences and soft labels."""

import random
from collections.abc import Callable, Sequence

from capsrl.network.batches import Batch
from capsrl.network.network import Network
from capsrl.predict.indexing import IndexedSentence, bucket
from capsrl.train.soft_corpus import SoftBatch, SoftCorpus

Planned = list[int] | SoftBatch  # numbers of annotated sentences, or sentences of shards
_NEXT = 1_000_000_007  # between the seeds of an epoch, to keep clear of those of other epochs


class Mixture:
    """The sentences that an epoch is made of; each batch has sentences of one kind.

    items          annotated sentences; from number `n_gold` on they are partially annotated
    partial_share  share of the partially annotated sentences that an epoch uses
    soft           soft labels, which an epoch uses once
    repeats        how often an epoch uses the first `n_gold` sentences
    """

    def __init__(
        self,
        network: Network,
        items: Sequence[IndexedSentence],
        *,
        n_gold: int,
        partial_share: float = 1.0,
        soft: SoftCorpus | None = None,
        repeats: int = 1,
    ) -> None:
        self._network = network
        self._items = items
        self._n_gold = n_gold
        self._n_partial = round(partial_share * (len(items) - n_gold))
        self._soft = soft
        self._repeats = repeats

    def plan(self, *, batch_words: int, seed: int) -> list[Planned]:
        """Plan the batches of an epoch, the same for the same seed.

        Groups of shards follow one another, each mixed with its share of the other batches.
        """
        rng = random.Random(seed)
        annotated: list[Planned] = []
        for number in range(self._repeats):
            annotated += self._bucket(range(self._n_gold), batch_words, seed + _NEXT * number)
        if self._n_partial:
            partial = range(self._n_gold, len(self._items))
            annotated += self._bucket(rng.sample(partial, self._n_partial), batch_words, seed)
        if self._n_partial or self._soft is not None:
            rng.shuffle(annotated)
        if self._soft is None:
            return annotated
        groups = self._soft.plan(batch_words=batch_words, seed=seed)
        n_soft = sum(len(group) for group in groups)
        plan: list[Planned] = []
        done = 0
        for group in groups:
            first, end = (len(annotated) * n // n_soft for n in (done, done + len(group)))
            mixed = [*annotated[first:end], *group]
            rng.shuffle(mixed)
            plan += mixed
            done += len(group)
        return plan

    def _bucket(self, numbers: Sequence[int], batch_words: int, seed: int) -> list[list[int]]:
        lengths = [self._items[number].length for number in numbers]
        batches = bucket(lengths, batch_words=batch_words, seed=seed)
        return [[numbers[member] for member in batch] for batch in batches]

    def load_for(self, batches: Sequence[Planned]) -> list[Planned]:
        """Read the shards of the first batches; returns those that need no other shards.

        Processes that are forked afterwards share what was read.
        """
        soft = [planned for planned in batches if isinstance(planned, SoftBatch)]
        if not soft:
            return list(batches)
        assert self._soft is not None
        shards = soft[0].shards
        self._soft.load(shards)
        is_other = (isinstance(one, SoftBatch) and one.shards != shards for one in batches)
        return list(batches[: next((n for n, other in enumerate(is_other) if other), None)])

    def collate(
        self, planned: Planned, share: Callable[[Sequence[int]], list[int]]
    ) -> Batch | None:
        """Collate the sentences of a batch that `share` selects; None if there are none."""
        if isinstance(planned, SoftBatch):
            assert self._soft is not None
            members = share(planned.members)
            return self._soft.collate(SoftBatch(planned.shards, members)) if members else None
        items = [self._items[number] for number in share(planned)]
        return self._network.collate(items) if items else None
