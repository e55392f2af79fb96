"""Train a model: the epochs of a run, from a recipe to a model folder.

RUN/model/                   the best model so far by dev F1
RUN/checkpoint.safetensors   the state of the run, to resume it (checkpoint.py)
RUN/log.jsonl                losses and scores (log.py); RUN/tensorboard/ if that is installed
RUN/curve.png                dev scores and loss by epoch, if matplotlib is installed
"""

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from capsrl.config import ROUTED, Recipe
from capsrl.errors import ConfigError
from capsrl.files.opening import open_binary_writer, open_writer
from capsrl.files.replacing import remove_abandoned
from capsrl.labeler import Labeler
from capsrl.models import find_model
from capsrl.network.network import Network
from capsrl.network.save import Precision
from capsrl.predict.folder import read_inventory
from capsrl.score import Scores, score
from capsrl.sentence import Sentence
from capsrl.train.card import make_card
from capsrl.train.checkpoint import (
    Checkpoint,
    State,
    check_resumable,
    load_checkpoint,
    random_tensors,
    restore_random,
    run_fingerprint,
    save_checkpoint,
)
from capsrl.train.corpus import Corpus, check_files, read_training_files
from capsrl.train.loader import Mixture
from capsrl.train.log import Log, Report, dev_figures, find_collapse, is_low, plot_curve, read_log
from capsrl.train.optim import rate_factor
from capsrl.train.processes import Processes, defer_signals
from capsrl.train.soft_labels import SoftCorpus
from capsrl.train.start import build_network
from capsrl.train.trainer import make_trainer

LOG_EVERY = 50  # steps; then, and for checkpoints, the host waits until a GPU is done


@dataclass(frozen=True)
class TrainingResult:
    """The outcome of a run.

    dev, tests  scores of the saved model, tests by name; in the main process only
    seconds     training time, including time before the run was resumed
    notes       hints for the user
    """

    model: Path
    best_epoch: int
    seconds: float
    dev: Scores | None = None
    tests: dict[str, Scores] | None = None
    notes: tuple[str, ...] = ()


class Interrupted(KeyboardInterrupt):
    """The run was stopped by a signal; the message says how to resume it."""


def run(
    recipe: Recipe,
    folder: Path,
    *,
    device: str | None = None,
    report: Report | None = None,
    states: Path | None = None,
) -> TrainingResult:
    """Train as the recipe says; resume if the folder holds a checkpoint of the same recipe.

    report   called with every record of the log, in the main process
    states   folder for cached states; runs with the same corpus and frozen encoder share them
    Raises Interrupted after Ctrl-C or SIGTERM, when a checkpoint has been written; ConfigError if
    the folder belongs to another recipe or the loss is no longer finite.
    """
    processes = Processes(device)
    with contextlib.closing(processes), defer_signals() as stop:
        training = Training(recipe, folder, processes, stop, report, states)
        with contextlib.closing(training.log):
            try:
                while not training.state.finished:
                    training.train_epoch()
                    training.end_epoch()
                result = training.finish()
                # A process that exits before the main one is sometimes aborted (seen with gloo),
                # and then the launcher ends the main one too.
                processes.wait()
                return result
            except Interrupted:  # between two steps, where the state is consistent
                training.save()
                where = "from there" if recipe.train.checkpoint_every else "from the beginning"
                raise Interrupted(
                    f"{folder}: stopped after step {training.state.step}; "
                    f"run the same command again to resume {where}"
                ) from None


class Training:
    """One run in one process: its corpus, its network and its progress."""

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        processes: Processes,
        stop: threading.Event,
        report: Report | None,
        states: Path | None = None,
    ) -> None:
        self.recipe = recipe
        self.folder = folder
        self._processes = processes
        self._stop = stop

        check_files(recipe)
        self._fingerprint = run_fingerprint(recipe)
        self._checkpoint = folder / "checkpoint.safetensors"
        with contextlib.suppress(OSError):  # there is no folder yet
            if processes.is_main:  # a run that is finished will not save it again
                remove_abandoned(folder / "model")
        saved = self._load_checkpoint()
        self.state = State() if saved is None else saved.state
        self.state.finished = self._is_finished()  # the recipe may have more epochs now

        start = recipe.train.from_
        lemmatizer = None if start is None else read_inventory(find_model(start)).lemmatizer
        corpus = self._corpus = read_training_files(recipe.data, lemmatizer)
        network = build_network(recipe, corpus, rank=processes.rank).to(processes.device)
        self._network = network
        self._labeler = Labeler(network, recipe.model, device=processes.device)
        self._trainer = make_trainer(recipe, network, processes)
        if recipe.train.cache_states and not self.state.finished:
            network.vectors.cache_states([*corpus.train, *corpus.partial, *corpus.dev], states)
        self._mixture = _make_mixture(recipe, network, corpus)
        if saved is not None:
            self._trainer.restore(saved.tensors, path=self._checkpoint)
            restore_random(saved.tensors, processes.rank)

        self.log = Log(
            folder if processes.is_main else None, size=self.state.log_size, report=report
        )
        self._words = 0  # since the last line of the log
        self._clock = self._line_clock = time.monotonic()

    def train_epoch(self) -> None:
        """Train on the batches of the current epoch that are still to do."""
        train, state = self.recipe.train, self.state
        seed = 100_003 * train.seed + state.epoch
        plan = self._mixture.plan(batch_words=train.batch_words, seed=seed)
        one_step = 1 / (len(plan) * train.epochs)  # as a share of the run
        self._network.train()
        batches = self._mixture.make(
            plan[state.position :], self._processes.share, n_workers=train.workers
        )
        with contextlib.closing(batches):
            for batch in batches:
                done = (state.epoch + state.position / len(plan)) / train.epochs
                factor = rate_factor(done, one_step, warmup=train.warmup, schedule=train.schedule)
                warming_up = done < train.warmup
                self._trainer.train_on(batch, factor, state.step + 1, warming_up=warming_up)
                self._words += batch.n_words if batch is not None else 0
                state.position += 1
                state.step += 1
                self._after_step(train.learning_rate * factor, len(plan))

    def _after_step(self, rate: float, n_batches: int) -> None:
        """Log, stop or write a checkpoint, if it is time."""
        is_time = self.state.step % LOG_EVERY == 0
        if is_time:
            self._log_step(rate, n_batches)
        # Several processes must stop at the same step, and agreeing on it takes time.
        if (self._processes.world_size == 1 or is_time) and self._must_stop():
            raise Interrupted
        every = self.recipe.train.checkpoint_every
        if every and self.state.step % every == 0:
            self.save()

    def _log_step(self, rate: float, n_batches: int) -> None:
        losses = self._trainer.losses(epoch=False)
        state, now = self.state, time.monotonic()
        n_words = self._words * self._processes.world_size
        record = {
            "epoch": state.epoch + 1,
            "step": state.step,
            "batch": state.position,
            "batches": n_batches,
            **losses,
            "gradient_norm": self._trainer.gradient_norm(),
            "spikes": self._trainer.spikes(),
            "rate": rate,
            "words_per_second": round(n_words / (now - self._line_clock)),
            "seconds": self._seconds(),
        }
        self._words, self._line_clock = 0, now
        self.log.write("step", record)

    def end_epoch(self) -> None:
        """Score the dev file, unless that is for a later epoch, and write a checkpoint."""
        state, train, epoch = self.state, self.recipe.train, self.state.epoch + 1
        if epoch % train.score_every == 0 or epoch == train.epochs:
            self._score_epoch()
        else:
            state.epoch, state.position = epoch, 0
        self.save()
        if not state.finished and self._must_stop():
            raise Interrupted

    def _score_epoch(self) -> None:
        """Score the dev file, save the model if it is the best so far, and test for the end."""
        state = self.state
        train_seconds = self._seconds()
        losses = self._trainer.losses(epoch=True)  # says what to do if they are not finite
        with self._trainer.averaged_weights():
            dev = self._score(self._labeler, self._corpus.dev) if self._processes.is_main else None
            f1 = self._processes.broadcast(dev.labeled_f1 if dev is not None else 0.0)
            is_best = f1 > state.best_f1
            if is_best and self._processes.is_main:
                self._labeler.save(self.folder / "model", precision=self._precision())
        state.epoch += 1
        state.position = 0
        if is_best:
            state.best_f1, state.best_epoch = f1, state.epoch
        state.low_epochs = state.low_epochs + 1 if is_low(f1, state.best_f1) else 0
        state.finished = self._is_finished()
        if dev is not None:
            state.predicts_arguments |= dev.counts.pred_arguments > 0
            times = {"train_seconds": train_seconds, "seconds": self._seconds()}
            record = {"epoch": state.epoch, "step": state.step, **losses, **dev_figures(dev)}
            self.log.write("epoch", {**record, "best": is_best, **times})
            message = find_collapse(dev, state, n_epochs=self.recipe.train.epochs)
            if message is not None:
                self.log.write("warning", {"step": state.step, "message": message})
        self._words, self._line_clock = 0, time.monotonic()

    def _precision(self) -> Precision:
        """How the model is saved; see `capsrl.network.save` on weights that start quantized."""
        train = self.recipe.train
        is_started = train.from_ is not None
        return "dithered" if is_started and train.precision == "compact" else train.precision

    def _is_finished(self) -> bool:
        train, state = self.recipe.train, self.state
        stops_early = state.epoch - state.best_epoch >= train.patience
        return stops_early or state.epoch >= train.epochs

    def finish(self) -> TrainingResult:
        """Score the saved model on the dev and test files; write its card and the curve."""
        model, state = self.folder / "model", self.state
        if not self._processes.is_main:
            return TrainingResult(model, state.best_epoch, state.seconds)
        labeler = Labeler.load(model, device=str(self._processes.device))
        dev = self._score(labeler, self._corpus.dev)
        # The iterations before the last can be far worse, which the scores above do not show.
        capsules = self.recipe.model.capsules
        fewer = range(1, capsules.iterations if capsules.variant in ROUTED else 1)
        intermediate = [self._score(labeler, self._corpus.dev, iterations=n) for n in fewer]
        tests = {name: self._score(labeler, gold) for name, gold in self._corpus.tests.items()}
        figures: dict[str, float] = {}
        for name, scores in [("dev", dev), *((f"test_{name}", tests[name]) for name in tests)]:
            figures |= {f"{name}_f1": scores.labeled_f1, f"{name}_em": scores.exact_match}
        record = {"step": state.step, "best_epoch": state.best_epoch, **figures}
        self.log.write("end", {**record, "seconds": state.seconds})
        card = make_card(
            self.recipe,
            dev=dev,
            intermediate=intermediate,
            tests=tests,
            n_sentences=len(self._corpus.train),
            n_partial=len(self._corpus.partial),
            started_from=self._fingerprint["train.from"],
        )
        with open_writer(model / "README.md") as file:
            file.write(card)
        notes = (*self._check_arguments(dev), *self._plot())
        return TrainingResult(model, state.best_epoch, state.seconds, dev, tests, notes)

    def _check_arguments(self, dev: Scores) -> Iterator[str]:
        if dev.counts.gold_arguments and not dev.counts.pred_arguments:
            train = self.recipe.train
            yield (
                f"{self.folder}: the model predicts no argument on {self.recipe.data.dev}; its F1 "
                f"is that of senses alone. Try a higher train.learning_rate (it is "
                f"{train.learning_rate:g}) or more train.epochs (it is {train.epochs})"
            )

    def _plot(self) -> Iterator[str]:
        try:
            figure = plot_curve(read_log(self.folder / "log.jsonl"))
        except ConfigError as error:
            yield f"no curve.png: {error}"
        else:
            with open_binary_writer(self.folder / "curve.png") as file:
                figure.savefig(file)

    def save(self) -> None:
        """Write a checkpoint unless the recipe turns them off.

        All processes must call this at the same step.
        """
        self.state.seconds = self._seconds()
        self._clock = time.monotonic()
        if not self.recipe.train.checkpoint_every:
            return
        generators = random_tensors(self._processes.gather)
        if self._processes.is_main:
            self.state.log_size = self.log.size
            tensors = {**self._trainer.tensors(), **generators}
            save_checkpoint(self._checkpoint, tensors, self.state, self._fingerprint)

    def _load_checkpoint(self) -> Checkpoint | None:
        if not self._checkpoint.exists():
            return None
        saved = load_checkpoint(self._checkpoint)
        check_resumable(self._checkpoint, saved.fingerprint, self._fingerprint, saved.state)
        return saved

    def _score(
        self, labeler: Labeler, sentences: list[Sentence], *, iterations: int | None = None
    ) -> Scores:
        """Score with the public API, so that reported scores are those users get."""
        labeled = labeler.label_sentences(sentences, predicates="marked", iterations=iterations)
        return score(sentences, self._until_stopped(labeled))

    def _until_stopped(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            if self._stop.is_set() and self._processes.world_size == 1:
                raise Interrupted
            yield sentence

    def _must_stop(self) -> bool:
        return self._processes.any_true(self._stop.is_set())

    def _seconds(self) -> float:
        return round(self.state.seconds + time.monotonic() - self._clock, 3)


def _make_mixture(recipe: Recipe, network: Network, corpus: Corpus) -> Mixture:
    items = [
        *(network.index(sentence) for sentence in corpus.train),
        *(network.index(sentence, partial=True) for sentence in corpus.partial),
    ]
    shards = recipe.distill.shards
    return Mixture(
        network,
        items,
        n_gold=len(corpus.train),
        partial_share=recipe.data.partial_share,
        soft=None if shards is None else SoftCorpus(shards, network),
        repeats=1 if shards is None else recipe.distill.gold,
    )
