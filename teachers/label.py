"""Label sentences with the probabilities of one or several teachers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor

from capsrl.network.backend import TorchBackend
from capsrl.network.batches import collate_predicates
from capsrl.network.network import Network, PropositionLogits
from capsrl.network.save import load_network
from capsrl.predict.indexing import IndexedSentence, bucket, group_predicates, with_predicates
from capsrl.predict.inventory import NO_ROLE_ID
from capsrl.predict.manifest import check_manifest
from capsrl.predict.predictor import add_tags, find_lemmas, find_predicates
from capsrl.sentence import Sentence
from capsrl.train.soft_labels import Array, SoftLabels, SparseProbs
from teachers.ensemble import Ensemble

BATCH_WORDS = 16_000
MIN_PROB = 0.002  # others are left out: of 50 roles one or two matter for a word
MAX_PAIRS = 65_536  # predicate-word pairs per forward pass; bounds memory
_POSITIONS = 1 << 20  # sentence * this + position identifies a predicate


def load_teachers(folders: Sequence[str | Path], device: torch.device) -> TorchBackend:
    """Load one model, or several as one that averages their probabilities.

    Raises ModelError for a folder that is not a model, and for models that do not fit together.
    """
    for folder in folders:
        check_manifest(Path(folder))
    networks = {str(folder): load_network(Path(folder))[0] for folder in folders}
    ensemble = Ensemble(networks)  # also checks a single teacher
    if len(networks) == 1:
        return TorchBackend(next(iter(networks.values())), device)
    return TorchBackend(cast(Network, ensemble), device)  # it has the methods that are called


@torch.inference_mode()
def label_softly(
    teacher: TorchBackend, sentences: Sequence[Sentence], *, batch_words: int = BATCH_WORDS
) -> SoftLabels:
    """Label sentences with probabilities; predicates are words with a probability above 0.5.

    Runs in bf16 on a GPU, as training does.
    """
    network, device_type = teacher.network.eval(), teacher.torch_device.type
    items = [network.index(sentence, gold=False) for sentence in sentences]
    predicate_probs: list[Array] = [np.zeros(0, np.float16)] * len(items)
    collected = _Collected()
    with torch.autocast(device_type, dtype=torch.bfloat16, enabled=device_type == "cuda"):
        lengths = [item.length for item in items]
        for numbers in bucket(lengths, batch_words=batch_words, seed=None):
            batch = [(number, items[number], sentences[number]) for number in numbers]
            probs = _label_batch(teacher, batch, collected)
            for number, row in zip(numbers, probs, strict=True):
                predicate_probs[number] = row[: items[number].n_words]
    keys, order, sparse = collected.sort()
    return SoftLabels(
        words=[list(sentence.words) for sentence in sentences],
        lemmas=[collected.lemmas[number] for number in order],
        lengths=np.array(lengths, dtype=np.int32),
        predicate_probs=np.concatenate([np.zeros(0, np.float16), *predicate_probs]),
        n_predicates=np.bincount(keys // _POSITIONS, minlength=len(items)).astype(np.int32),
        positions=(keys % _POSITIONS).astype(np.int32),
        sparse=sparse,
    )


@dataclass
class _Collected:
    """The predictions of the batches so far, in the order of the batches.

    keys    of the predicates: sentence * _POSITIONS + position
    lemmas  of the predicates
    sparse  name -> (key or number of the sentence, word, class, probability), arrays per batch
    """

    keys: list[Array] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    sparse: dict[str, list[tuple[Array, ...]]] = field(default_factory=dict)

    def add(self, name: str, keys: Array, probs: Tensor, keep: Tensor) -> None:
        """Add the probabilities of at least MIN_PROB.

        keys   rows                one per row of `probs`
        probs  rows words classes
        keep   rows words classes  False where there is nothing to predict
        """
        rows, words, ids = ((probs >= MIN_PROB) & keep).nonzero(as_tuple=True)
        entry = (
            keys[rows.cpu().numpy()],
            words.cpu().numpy().astype(np.int16),
            ids.cpu().numpy().astype(np.int16),
            probs[rows, words, ids].half().cpu().numpy(),
        )
        self.sparse.setdefault(name, []).append(entry)

    def sort(self) -> tuple[Array, Array, dict[str, SparseProbs]]:
        """Sort everything by sentence and position.

        -> the keys of the predicates; their order; the probabilities, which now belong to numbers
           of predicates instead of keys
        """
        keys = np.concatenate([np.zeros(0, np.int64), *self.keys])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        none = tuple(np.zeros(0, kind) for kind in (np.int64, np.int16, np.int16, np.float16))
        sparse = {}
        for name in {"senses": 0, "patterns": 0, "roles.0": 0, **self.sparse}:
            entries = [none, *self.sparse.get(name, [])]
            owners, words, ids, probs = map(np.concatenate, zip(*entries, strict=True))
            if name != "tags":
                owners = np.searchsorted(keys, owners)
            rank = np.lexsort((ids, words, owners))
            sparse[name] = SparseProbs(
                owners[rank].astype(np.int32), words[rank], ids[rank], probs[rank]
            )
        return keys, order, sparse


def _label_batch(
    teacher: TorchBackend,
    members: Sequence[tuple[int, IndexedSentence, Sentence]],
    collected: _Collected,
) -> Array:
    """Label the sentences of a batch, which come with their numbers.

    ->  B T  the probabilities of predicates
    """
    network = teacher.network
    items = [with_predicates(item, ()) for _, item, _ in members]
    batch = network.collate(items, gold=False).to(teacher.torch_device)
    states = network.encode(batch)  # B T H
    probs: Array = (network.finder(states).float().sigmoid() * batch.mask).cpu().numpy()
    sentences: Sequence[Sentence] = [sentence for *_, sentence in members]
    numbers = np.array([number for number, *_ in members], dtype=np.int64)
    if network.tagger is not None:
        tag_probs = network.tagger(states).float().softmax(-1)  # B T tags
        ids = tag_probs.argmax(-1).cpu().numpy()
        sentences = add_tags(sentences, ids, teacher.inventory)
        collected.add("tags", numbers, tag_probs, batch.mask.unsqueeze(-1))
    items = [
        with_predicates(item, positions, find_lemmas(sentence, positions, teacher.inventory))
        for item, positions, sentence in zip(
            items, find_predicates(probs > 0.5), sentences, strict=True
        )
    ]
    for rows, group in group_predicates(items, max_pairs=MAX_PAIRS):
        chosen, n_words = torch.tensor(rows, device=teacher.torch_device), group[0].n_words
        mask = batch.mask[chosen, :n_words]
        predicates = collate_predicates(group, teacher.inventory).to(teacher.torch_device)
        logits = network.score_propositions(states[chosen, :n_words], mask, predicates)
        owners = np.repeat(numbers[rows], [len(item.predicates) for item in group])
        positions = [position for item in group for position in item.predicates]
        keys = owners * _POSITIONS + np.array(positions, dtype=np.int64)
        collected.keys.append(keys)
        collected.lemmas += [lemma for item in group for lemma in item.lemmas]
        _add_propositions(
            logits, keys, mask[predicates.rows], predicates.n_candidates > 0, collected
        )
    halves: Array = probs.astype(np.float16)
    return halves


def _add_propositions(
    logits: PropositionLogits, keys: Array, mask: Tensor, known: Tensor, collected: _Collected
) -> None:
    """Collect the predictions for some predicates.

    mask   P T  True at words
    known  P    True where the lemma has candidate senses
    """
    for number, role_logits in enumerate(logits.routing.logits[1:] or logits.routing.logits):
        probs = role_logits.float().softmax(-1)  # P T R
        is_role = torch.arange(probs.shape[-1], device=probs.device) != NO_ROLE_ID
        collected.add(f"roles.{number}", keys, probs, mask.unsqueeze(-1) & is_role)
    if logits.phrases is not None:
        is_argument = (logits.routing.final.argmax(-1) != NO_ROLE_ID) & mask  # P T
        for name in ("firsts", "lasts"):
            probs = getattr(logits.phrases, name).float().softmax(-1)  # P T T
            collected.add(name, keys, probs, is_argument.unsqueeze(-1))
    senses, patterns = (
        scores.float().softmax(-1).unsqueeze(1) for scores in (logits.senses, logits.patterns)
    )
    collected.add("senses", keys, senses, known.view(-1, 1, 1))
    collected.add("patterns", keys, patterns, torch.ones_like(known).view(-1, 1, 1))
