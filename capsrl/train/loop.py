"""A recipe in, a model folder out: the epochs between, and where they leave off and go on.

RUN/model/                   the best model so far by dev F1, ready for `capsrl predict`
RUN/checkpoint.safetensors   where the run stands (checkpoint.py)
RUN/log.jsonl                what happened (log.py), RUN/tensorboard/ where it is installed
RUN/curve.png                loss and dev scores, where matplotlib is installed
"""

import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from capsrl.config import ROUTED, Recipe
from capsrl.data.files import open_writer
from capsrl.data.formats import read_sentences
from capsrl.data.frames import read_frames
from capsrl.errors import ConfigError, DataError
from capsrl.labeler import Labeler
from capsrl.model.batches import Batch, bucket
from capsrl.model.build import make_network
from capsrl.model.inventory import build_inventory
from capsrl.score import Scores, score
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import learn_lemmas
from capsrl.train.card import make_card
from capsrl.train.checkpoint import (
    State,
    check_same,
    identify,
    load_checkpoint,
    random_state,
    restore_random_state,
    save_checkpoint,
)
from capsrl.train.log import Log, Record, read_log
from capsrl.train.optim import rate_factor
from capsrl.train.plot import plot_curve
from capsrl.train.prefetch import prefetch
from capsrl.train.processes import Processes
from capsrl.train.signals import Interrupted, Wish, listening
from capsrl.train.step import Learner

LOG_EVERY = 50  # steps; besides checkpoints the only times a GPU is waited for
Report = Callable[[Record], None]


@dataclass(frozen=True)
class Result:
    """How a run ended.

    dev, tests  scores of the kept model, by name of the test file; main process only
    seconds     spent on epochs, over all resumptions
    """

    model: Path
    best_epoch: int
    seconds: float
    dev: Scores | None = None
    tests: dict[str, Scores] | None = None


def run(
    recipe: Recipe, folder: Path, *, device: str | None = None, report: Report | None = None
) -> Result:
    """Train as the recipe says; where the folder holds a checkpoint of this recipe, go on from it.

    report   called with every record of the log, in the main process
    Raises Interrupted, with a checkpoint written, after Ctrl-C or SIGTERM; ConfigError when the
    folder belongs to another recipe or the loss is no longer a number.
    """
    processes = Processes(device)
    with contextlib.closing(processes), listening() as wish:
        training = Training(recipe, folder, processes, wish, report or (lambda record: None))
        with contextlib.closing(training):
            try:
                while not training.state.finished:
                    training.learn_epoch()
                    training.end_epoch()
                result = training.finish()
                # A process that leaves before the main one is at times aborted (seen with gloo),
                # and then the launcher ends that one too.
                processes.wait()
                return result
            except _Stop:
                training.save()
                where = "from there" if recipe.train.checkpoint_every else "from the beginning"
                raise Interrupted(
                    f"{folder}: stopped after step {training.state.step}; "
                    f"run the same command again to go on {where}"
                ) from None


class _Stop(Exception):  # noqa: N818 - no error, a wish
    """Ctrl-C was pressed, and the state is whole."""


class Training:
    """One run in one process: what it learns from, who learns, and how far it is."""

    def __init__(
        self, recipe: Recipe, folder: Path, processes: Processes, wish: Wish, report: Report
    ) -> None:
        self.recipe = recipe
        self.folder = folder
        self.state = State()
        self._processes = processes
        self._wish = wish
        self._report = report
        self._identity = identify(recipe)
        self._checkpoint = folder / "checkpoint.safetensors"
        saved = load_checkpoint(self._checkpoint) if self._checkpoint.exists() else None
        if saved is not None:
            check_same(self._checkpoint, saved.identity, self._identity)
        self._train = _read(recipe.data.train)
        self._dev = _read(recipe.data.dev)
        # At the end a wrong name, or a file without answers, would come too late.
        for path in (recipe.data.dev, *recipe.data.test.values()):
            _check_gold(path)
        self._learner = self._make_learner()
        self._labeler = Labeler(self._learner.network, recipe.model, device=processes.device)
        if recipe.train.keep_states and not (saved is not None and saved.state.finished):
            self._learner.network.vectors.cache_states([*self._train, *self._dev])
        self._indexed = [self._learner.network.index(sentence) for sentence in self._train]
        self._lengths = [item.length for item in self._indexed]
        if saved is not None:
            self._learner.restore(saved.tensors, source=str(self._checkpoint))
            self._restore_random(saved.tensors)
            self.state = saved.state
        self._log = self._open_log()
        self._words = 0  # since the last line of the log
        self._clock = self._line_clock = time.monotonic()

    def learn_epoch(self) -> None:
        """Learn from the batches of this epoch that have not been learned from yet."""
        train, state = self.recipe.train, self.state
        seed = 100_003 * train.seed + state.epoch
        batches = bucket(self._lengths, batch_words=train.batch_words, seed=seed)
        step = 1 / (len(batches) * train.epochs)
        self._learner.network.train()
        with contextlib.closing(prefetch(self._collated(batches[state.position :]))) as ahead:
            for batch in ahead:
                done = (state.epoch + state.position / len(batches)) / train.epochs
                factor = rate_factor(done, step, warmup=train.warmup, decay=train.decay)
                self._learner.step(batch, factor, state.step + 1)
                self._words += batch.n_words if batch is not None else 0
                state.position += 1
                state.step += 1
                self._after_step(factor, len(batches))

    def _collated(self, batches: Iterable[list[int]]) -> Iterator[Batch | None]:
        """Batches in page-locked memory; None where this process has no share in one."""
        for batch in batches:
            mine = [self._indexed[i] for i in self._processes.share(batch)]
            yield self._learner.network.collate(mine).pin() if mine else None

    def _after_step(self, factor: float, n_batches: int) -> None:
        step = self.state.step
        if step % LOG_EVERY == 0:
            self._write_step(factor, n_batches)
        # Several processes must stop at the same step, and asking each other takes time.
        if (self._processes.count == 1 or step % LOG_EVERY == 0) and self._stopping():
            raise _Stop
        every = self.recipe.train.checkpoint_every
        if every and step % every == 0:
            self.save()

    def _write_step(self, factor: float, n_batches: int) -> None:
        losses = self._learner.losses(epoch=False)
        now = time.monotonic()
        words_per_second = round(self._words * self._processes.count / (now - self._line_clock))
        self._words, self._line_clock = 0, now
        self._write(
            {
                "kind": "step",
                "epoch": self.state.epoch + 1,
                "step": self.state.step,
                "batch": self.state.position,
                "batches": n_batches,
                **losses,
                "rate": self.recipe.train.learning_rate * factor,
                "words_per_second": words_per_second,
                "seconds": self._seconds(),
            }
        )

    def end_epoch(self) -> None:
        """Score the dev file, keep the model if it is the best, decide whether to go on."""
        state = self.state
        seconds = self._seconds()  # before scoring
        with self._learner.kept_weights():
            scores = self._score(self._labeler, self._dev) if self._processes.is_main else None
            f1 = self._processes.agree(scores.labeled_f1 if scores is not None else 0.0)
            best = f1 > state.best_f1
            if best and self._processes.is_main:
                self._labeler.save(self.folder / "model")
        losses = self._learner.losses(epoch=True)
        state.epoch += 1
        state.position = 0
        if best:
            state.best_f1, state.best_epoch = f1, state.epoch
        late = state.epoch - state.best_epoch >= self.recipe.train.patience
        state.finished = late or state.epoch == self.recipe.train.epochs
        if scores is not None:
            self._write(
                {
                    "kind": "epoch",
                    "epoch": state.epoch,
                    "step": state.step,
                    **losses,
                    "dev_f1": scores.labeled_f1,
                    "dev_precision": scores.labeled_precision,
                    "dev_recall": scores.labeled_recall,
                    "dev_em": scores.exact_match,
                    "best": best,
                    "train_seconds": seconds,
                    "seconds": self._seconds(),
                }
            )
        self._words, self._line_clock = 0, time.monotonic()
        self.save()
        if not state.finished and self._stopping():
            raise _Stop

    def finish(self) -> Result:
        """Score the kept model on the test files and write its card."""
        model, state = self.folder / "model", self.state
        if not self._processes.is_main:
            return Result(model, state.best_epoch, state.seconds)
        labeler = Labeler.load(model, device=str(self._processes.device))
        dev = self._score(labeler, self._dev)
        # F1 as trained says nothing of what is believed on the way, which can be nonsense.
        capsules = self.recipe.model.capsules
        before = range(1, capsules.iterations if capsules.variant in ROUTED else 1)
        earlier = [self._score(labeler, self._dev, iterations=n) for n in before]
        files = self.recipe.data.test
        tests = {name: self._score(labeler, _read(path)) for name, path in files.items()}
        record: Record = {"kind": "end", "step": state.step, "best_epoch": state.best_epoch}
        for name, scores in [("dev", dev), *((f"test_{name}", tests[name]) for name in tests)]:
            record |= {f"{name}_f1": scores.labeled_f1, f"{name}_em": scores.exact_match}
        self._write(record | {"seconds": state.seconds})
        n_sentences = len(self._train)
        card = make_card(
            self.recipe, dev=dev, earlier=earlier, tests=tests, n_sentences=n_sentences
        )
        with open_writer(model / "README.md") as file:
            file.write(card)
        with contextlib.suppress(ConfigError):  # no matplotlib, no picture: the log has it all
            plot_curve(read_log(self.folder / "log.jsonl")).savefig(self.folder / "curve.png")
        return Result(model, state.best_epoch, state.seconds, dev, tests)

    def save(self) -> None:
        """Write a checkpoint, if any are wanted; all processes must call this at the same step."""
        self.state.seconds = self._seconds()
        self._clock = time.monotonic()
        if not self.recipe.train.checkpoint_every:
            return
        generators = {
            f"random.{name}": self._processes.gather(tensor)
            for name, tensor in random_state().items()
        }
        if self._log is not None:
            self.state.log_size = self._log.size
            tensors = {**self._learner.tensors(), **generators}
            save_checkpoint(self._checkpoint, tensors, self.state, self._identity)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()

    def _make_learner(self) -> Learner:
        recipe = self.recipe
        _seed(recipe.train.seed)
        frames = read_frames(recipe.data.frames) if recipe.data.frames else None
        inventory = build_inventory(self._train, frames=frames, source=recipe.data.train)
        if recipe.data.language == "en":  # whose endings the lemmatiser knows
            inventory = replace(inventory, lemmatizer=learn_lemmas(self._train))
        network = make_network(
            recipe.model,
            inventory,
            words=self._count_words(),
        )
        if not self._processes.is_main:  # the same weights, but every process its own dropout
            _seed(recipe.train.seed + 1_000_003 * self._processes.rank)
        return Learner(network, train=recipe.train, loss=recipe.loss, processes=self._processes)

    def _count_words(self) -> Counter[str]:
        """The words of training by frequency, and those of the files to be scored, as 0."""
        counts = Counter(word for sentence in self._train for word in sentence.words)
        if self.recipe.model.embeddings.fasttext is not None:
            tests = (_read(path) for path in self.recipe.data.test.values())
            for sentences in (self._dev, *tests):
                counts.update({word: 0 for sentence in sentences for word in sentence.words})
        return counts

    def _restore_random(self, tensors: dict[str, Tensor]) -> None:
        """Each process its own generators; one that was not there keeps its fresh ones."""
        rank = self._processes.rank
        saved = {
            name.removeprefix("random."): tensor
            for name, tensor in tensors.items()
            if name.startswith("random.")
        }
        if rank < len(saved["torch"]):
            restore_random_state({name: tensor[rank] for name, tensor in saved.items()})

    def _open_log(self) -> Log | None:
        if not self._processes.is_main:
            return None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            return Log(
                self.folder / "log.jsonl",
                size=self.state.log_size,
                tensorboard=self.folder / "tensorboard",
            )
        except OSError as error:
            raise ConfigError(
                f"{self.folder}: cannot be written: {error.strerror or error}; "
                "name another folder with --out"
            ) from None

    def _write(self, record: Record) -> None:
        if self._log is not None:
            self._log.write(record)
            self._report(record)

    def _score(
        self, labeler: Labeler, sentences: list[Sentence], *, iterations: int | None = None
    ) -> Scores:
        """Score through the road users take, so that what is reported is what they get."""
        labelled = labeler.label_sentences(sentences, predicates="marked", iterations=iterations)
        return score(sentences, self._unless_stopping(labelled))

    def _unless_stopping(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            if self._wish.stop and self._processes.count == 1:
                raise _Stop
            yield sentence

    def _stopping(self) -> bool:
        return self._processes.any(self._wish.stop)

    def _seconds(self) -> float:
        return round(self.state.seconds + time.monotonic() - self._clock, 3)


def _check_sentences(path: str) -> None:
    if not any(sentence.words for sentence in read_sentences(path)):
        raise DataError(f"{path}: expected sentences, got none")


def _check_gold(path: str) -> None:
    _check_sentences(path)
    sentences = read_sentences(path)
    if not any(one.sense is not None for sentence in sentences for one in sentence.propositions):
        raise DataError(
            f"{path}: expected predicates with senses, got none; one cannot score on a blind file"
        )


def _read(path: str) -> list[Sentence]:
    _check_sentences(path)
    return [sentence for sentence in read_sentences(path) if sentence.words]


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - libraries may draw from it
    torch.manual_seed(seed)
