"""Labeler: finds the propositions of text and of sentences."""

import dataclasses
import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, get_args, overload

from capsrl.config import ModelConfig
from capsrl.device import default_threads
from capsrl.errors import ConfigError, DataError
from capsrl.frames.index import FrameIndex
from capsrl.frames.user import choose_frames
from capsrl.labeled import Labeled
from capsrl.models import find_model, shipped_models
from capsrl.options import OptionKeywords, Options, make_options
from capsrl.predict.backend import Backend
from capsrl.predict.calibration import Calibration, load_calibration
from capsrl.predict.folder import choose_runtime, read_config, read_inventory
from capsrl.predict.inventory import Inventory
from capsrl.predict.manifest import check_manifest
from capsrl.predict.predictor import Predictor
from capsrl.sentence import Sentence
from capsrl.text.reading import (
    check_several,
    is_missing,
    mark_predicates,
    read_pair,
    to_sentences,
)

if TYPE_CHECKING:  # labeling needs no torch
    import torch

    from capsrl.network.network import Network
    from capsrl.network.save import Precision

Text = str | Sentence
_Key = TypeVar("_Key")
Missing = Literal["error", "empty"]


class Labeler:
    """A trained network and everything needed to label text with it.

    Every prediction goes through `label_sentences`: raw text, dev scoring, command line, server.

    network      a network of torch, or a backend that runs one
    calibration  curves that make the probabilities of the network calibrated ones; None for none
    device       cpu, cuda, cuda:1; default: the GPU if there is one
    threads      maximum number of CPU threads; default: the cores of the process, or one if the
                 machine is busy. A single sentence uses one
    frames       PropBank's rolesets, which say what roles mean; default: those of the model
    """

    def __init__(
        self,
        network: "Network | Backend",
        config: ModelConfig,
        *,
        calibration: Calibration | None = None,
        device: "str | torch.device | None" = None,
        threads: int | None = None,
        frames: FrameIndex | None = None,
    ) -> None:
        if threads is not None and threads < 1:
            raise ConfigError(f"threads: expected at least 1, got {threads}")
        self.backend = _as_backend(network, device)
        self.config = config
        self.frames = self.inventory.frames if frames is None else frames
        self._predictor = Predictor(self.backend, self.frames, calibration)
        self.threads = threads
        self.folder: Path | None = None  # that it was loaded from
        self._choices: dict[str, Any] = {}  # the other arguments of `load`

    def __repr__(self) -> str:
        threads = self.threads or default_threads()
        return (
            f"Labeler(model={self._model!r}, runtime={self.backend.runtime!r}, "
            f"device={self.device!r}, threads={threads})"
        )

    @property
    def _model(self) -> str | None:
        """What to load to get this model: its name, if it ships with capsrl, or its folder."""
        names = {folder: name for name, folder in shipped_models().items()}
        return names.get(self.folder, str(self.folder)) if self.folder else None

    def __copy__(self) -> "Labeler":
        """A labeler that shares the model; `__reduce__` would load it again."""
        copied = object.__new__(type(self))
        copied.__dict__ |= self.__dict__
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by the name or folder of the model, which is loaded where it is unpickled."""
        if self._model is None:
            raise PicklingError(
                "a Labeler is pickled by its folder, and this one has none: save(folder), then "
                "pickle Labeler.load(folder)"
            )
        model = self._model if self._model in shipped_models() else os.path.abspath(self._model)
        return _load_again, (type(self), model, self._choices | {"threads": self.threads})

    @property
    def inventory(self) -> Inventory:
        """The roles, senses and words the model knows."""
        return self.backend.inventory

    @property
    def device(self) -> str:
        """Where the network runs: cpu, or a GPU such as cuda:0."""
        return self.backend.device

    @property
    def network(self) -> "Network":
        """The network as a module of torch; raises ConfigError if another runtime runs it."""
        network: Network | None = getattr(self.backend, "network", None)
        if network is None:
            raise ConfigError("network: the model runs without torch; load it with runtime='torch'")
        return network

    @property
    def calibration(self) -> Calibration | None:
        """How probabilities are calibrated; None if they are those of the network."""
        return self._predictor.calibration

    @overload
    def label(  # type: ignore[overload-overlap]  # a string is an iterable of strings too
        self,
        text: Text,
        *,
        at: Collection[int] | None = None,
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> list[Sentence]: ...

    @overload
    def label(
        self,
        text: Iterable[Text],
        *,
        at: None = None,
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> list[list[Sentence]]: ...

    def label(
        self,
        text: Text | Iterable[Text],
        *,
        at: Collection[int] | None = None,
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> list[Sentence] | list[list[Sentence]]:
        """Label a text, or several.

        text     raw text, or a Sentence whose words are known -> its sentences with propositions;
                 several of them -> such a list for each
        ->       `sentence.text` is the sentence itself; `sentence.start` plus an offset counts into
                 the raw text
        at       where the predicates of one text are: offsets of characters, or positions of words
                 in a Sentence that has no text
        options  an `Options`, or its fields as keywords: predicates, pos, iterations, threshold,
                 sense_threshold, proposition_threshold, trace, phrases, html,
                 one_sentence_per_line, uncalibrated, consistent
        """
        chosen = make_options(options, **keywords)
        if not isinstance(text, str | Sentence):
            check_several(text, "text: expected a string, a Sentence or several of them")
            if at is not None:
                raise DataError("at: works with one text only; label several one by one")
            return Labeled(self.label_many(text, options=chosen))
        sentences = to_sentences(text, chosen.layout(self.inventory.language))
        if at is not None:
            if not isinstance(at, Collection):
                raise DataError(f"at: expected a list of positions, got {at!r:.60}")
            sentences = mark_predicates(sentences, at)
            chosen = dataclasses.replace(chosen, predicates="marked")
        return Labeled(self.label_sentences(_own_text(text, sentences), options=chosen))

    @overload
    def label_many(
        self,
        texts: Iterable[Text],
        *,
        as_tuples: Literal[False] = False,
        batch_size: int | None = None,
        progress: bool = False,
        missing: Missing = "error",
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Iterator[list[Sentence]]: ...

    @overload
    def label_many(
        self,
        texts: Iterable[tuple[Any, Text]],
        *,
        as_tuples: Literal[True],
        batch_size: int | None = None,
        progress: bool = False,
        missing: Missing = "error",
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Iterator[tuple[Any, list[Sentence]]]: ...

    def label_many(
        self,
        texts: Iterable[Any],
        *,
        as_tuples: bool = False,
        batch_size: int | None = None,
        progress: bool = False,
        missing: Missing = "error",
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Iterator[Any]:
        """Label a stream of texts in order, yielding the sentences of each.

        Sentences of different texts share batches, so this is much faster than one `label` after
        the other; only some of the texts are held at a time.

        as_tuples   the stream has pairs (id, text), and so does the result: (id, sentences)
        batch_size  maximum number of sentences in a batch; default: limited by words
        progress    show a progress bar on stderr
        missing     None and NaN in the place of a text raise an error, which names their position;
                    with "empty" they are texts without sentences
        options     an `Options`, or its fields as keywords
        """
        chosen = make_options(options, **keywords)
        if isinstance(texts, str | Sentence):
            raise DataError("texts: one text was given; label(text) labels one")
        check_several(texts, "texts: expected several texts")
        if missing not in get_args(Missing):
            raise ConfigError(f"missing: expected 'error' or 'empty', got {missing!r}")
        if progress:
            from capsrl.show.progress_bar import track_texts  # rich is not needed to label

            texts = track_texts(texts)
        layout = chosen.layout(self.inventory.language)

        def documents() -> Iterator[tuple[Any, list[Sentence]]]:
            for position, item in enumerate(texts):
                key, text = read_pair(item, position) if as_tuples else (None, item)
                if missing == "empty" and is_missing(text):
                    text = ""
                yield key, _own_text(text, to_sentences(text, layout, position=position))

        labeled = self.label_documents(documents(), batch_size=batch_size, options=chosen)
        return labeled if as_tuples else map(itemgetter(1), labeled)

    def label_documents(
        self,
        documents: Iterable[tuple[_Key, Iterable[Sentence]]],
        *,
        batch_size: int | None = None,
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Iterator[tuple[_Key, list[Sentence]]]:
        """Label a stream of documents in order, holding only some of them at a time.

        documents  pairs of a key, which may be anything, and sentences
        ->         pairs of the same keys and the labeled sentences, also where there are none

        Sentences of different documents share batches. The rest is as in `label_sentences`.
        """
        # (key, number of sentences) of the documents read so far
        waiting: deque[tuple[_Key, int]] = deque()

        def stream() -> Iterator[Sentence]:
            for key, sentences in documents:
                held = list(sentences)
                waiting.append((key, len(held)))
                yield from held

        labeled = self.label_sentences(stream(), batch_size=batch_size, options=options, **keywords)
        return _by_document(labeled, waiting)

    def label_sentences(
        self,
        sentences: Iterable[Sentence],
        *,
        batch_size: int | None = None,
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Iterator[Sentence]:
        """Label a stream of sentences in order, holding only some of them at a time.

        batch_size  maximum number of sentences in a batch; default: limited by words
        options     an `Options`, or its fields as keywords

        Sentences that are labeled get predicted tags if they have none and the model has a tagger.
        """
        chosen = make_options(options, **keywords)
        if batch_size is not None and batch_size < 1:
            raise ConfigError(f"batch_size: expected at least 1, got {batch_size}")
        return self._predictor.label_stream(
            sentences, chosen, batch_size=batch_size, threads=self.threads
        )

    def save(self, folder: str | Path, *, precision: "Precision" = "full") -> None:
        """Write the model folder, replacing a model that was there; needs torch."""
        from capsrl.network.save import save_network

        save_network(
            self.network,
            self.config,
            Path(folder),
            precision=precision,
            calibration=self.calibration,
        )

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        device: "str | torch.device | None" = None,
        threads: int | None = None,
        frames: str | Path | None = None,
        runtime: str | None = None,
    ) -> "Labeler":
        """Read a model folder; raises ModelError naming what is missing, damaged or too new.

        The arguments are those of `capsrl.load`. A model trained with fastText vectors looks for
        their file where its config.json says, and warns if it is gone: words that the training data
        did not have are then unknown.
        """
        chosen = choose_runtime(Path(folder), device, runtime)
        open_model = _open_onnx if chosen == "onnx" else _load_network
        check_manifest(Path(folder))
        network, config = open_model(Path(folder))
        labeler = cls(
            network,
            config,
            calibration=load_calibration(Path(folder)),
            device=device,
            threads=threads,
            frames=choose_frames(frames, network.inventory.frames),
        )
        labeler.folder = Path(folder)
        labeler._choices = {"device": device, "frames": frames, "runtime": runtime}
        return labeler


def _own_text(text: Text, sentences: list[Sentence]) -> list[Sentence]:
    """The sentences of raw text, each with its own part of it; a given Sentence stays as it is."""
    return [each.standalone() for each in sentences] if isinstance(text, str) else sentences


def _load_again(kind: type[Labeler], model: str, choices: dict[str, Any]) -> Labeler:
    return kind.load(find_model(model), **choices)


def _open_onnx(folder: Path) -> tuple[Backend, ModelConfig]:
    from capsrl.predict.onnx import OnnxBackend

    config, inventory = read_config(folder), read_inventory(folder)
    return OnnxBackend(folder, inventory, n_iterations=config.capsules.iterations), config


def _load_network(folder: Path) -> "tuple[Network, ModelConfig]":
    from capsrl.network.save import load_network

    return load_network(folder)


def _as_backend(network: "Network | Backend", device: "str | torch.device | None") -> Backend:
    """A network on a device; a backend stays what it is."""
    if isinstance(network, Backend):
        return network
    from capsrl.network.backend import TorchBackend

    return TorchBackend(network, device)


def _by_document(
    labeled: Iterable[Sentence], waiting: deque[tuple[_Key, int]]
) -> Iterator[tuple[_Key, list[Sentence]]]:
    """Labeled sentences by document.

    waiting  (key, number of sentences) of the documents; filled as `labeled` reads them
    """
    done: list[Sentence] = []
    for sentence in labeled:
        while waiting[0][1] == 0:
            yield waiting.popleft()[0], []
        done.append(sentence)
        if len(done) == waiting[0][1]:
            yield waiting.popleft()[0], done
            done = []
    for key, _ in waiting:  # documents without sentences at the end of the stream
        yield key, []
