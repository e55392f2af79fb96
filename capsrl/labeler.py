"""Labeler: sentences in, the same sentences with propositions out; and the model folder."""

import dataclasses
import json
import os
import tempfile
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from capsrl.config import CapsulesConfig, EmbeddingsConfig, EncoderConfig, ModelConfig
from capsrl.data.batches import Indexed, bucket
from capsrl.data.inventory import Inventory, lemma_of
from capsrl.errors import ModelError
from capsrl.model.build import attach_files, make_network
from capsrl.model.decode import decode
from capsrl.model.network import Network
from capsrl.model.weights import Precision, load_weights, save_weights
from capsrl.sentence import Proposition, Sentence

FORMAT = 1  # of the model folder; raised when an older capsrl could not read it
CHUNK = 2048  # sentences read ahead, to be batched by length

PredicateSource = Literal["given", "predicted"]


class Labeler:
    """A trained network with all it needs to label sentences.

    Every way to predict goes through `label_sentences`: dev scoring, the command line, bulk.
    """

    def __init__(
        self, network: Network, config: ModelConfig, *, device: str | torch.device = "cpu"
    ) -> None:
        self.network = network.to(device)
        self.config = config
        self.device = torch.device(device)

    @property
    def inventory(self) -> Inventory:
        """The roles, senses and words the model knows."""
        return self.network.inventory

    def label_sentences(
        self,
        sentences: Iterable[Sentence],
        *,
        predicates: PredicateSource = "given",
        iterations: int | None = None,
        threshold: float = 0.0,
        trace: bool = False,
        batch_words: int = 2000,
    ) -> Iterator[Sentence]:
        """Label sentences, in their order, holding only some of them at a time.

        predicates  given: at the positions of the sentence's propositions; predicted: found
        iterations  of routing, if not as many as in training
        threshold   arguments less probable than this are left out
        trace       keep what was believed after every iteration, in `Proposition.trace`
        """
        if iterations is not None and iterations < 1:
            raise ValueError(f"expected at least 1 iteration, got {iterations}")
        stream = iter(sentences)
        while chunk := list(islice(stream, CHUNK)):
            answers: dict[int, list[Proposition]] = {i: [] for i in range(len(chunk))}
            busy = [
                i
                for i, s in enumerate(chunk)
                if s.words and (predicates == "predicted" or s.predicates)
            ]
            items = [self.network.index(chunk[i]) for i in busy]
            lengths = [item.length for item in items]
            for members in bucket(lengths, batch_words=batch_words, seed=None):
                numbers = [busy[member] for member in members]
                found = self._label_batch(
                    [chunk[i] for i in numbers],
                    [items[member] for member in members],
                    predicates=predicates,
                    iterations=iterations,
                    threshold=threshold,
                    trace=trace,
                )
                for owner, proposition in found:
                    answers[numbers[owner]].append(proposition)
            for i, sentence in enumerate(chunk):
                yield sentence.with_propositions(answers[i])

    @torch.inference_mode()
    def _label_batch(
        self,
        sentences: Sequence[Sentence],
        items: Sequence[Indexed],
        *,
        predicates: PredicateSource,
        iterations: int | None,
        threshold: float,
        trace: bool,
    ) -> list[tuple[int, Proposition]]:
        """Propositions of a batch, each with the number of its sentence."""
        network = self.network.eval()
        if predicates == "predicted":
            bare = [dataclasses.replace(item, predicates=(), lemmas=()) for item in items]
            batch = network.collate(bare, gold=False).to(self.device)
            states = network.encode(batch)
            found = (network.finder(states) > 0) & batch.mask  # B T
            items = [_with_predicates(*each) for each in zip(items, sentences, found, strict=True)]
            batch = dataclasses.replace(
                batch, predicates=network.collate_predicates(items).to(self.device)
            )
        owners = [number for number, item in enumerate(items) for _ in item.predicates]
        if not owners:
            return []
        if predicates == "given" or network.mark_predicate:
            blind = not network.mark_predicate
            batch = network.collate(items, gold=False, blind=blind).to(self.device)
            states = network.encode(batch)
        propositions = decode(
            network.relate(states, batch.mask, batch.predicates, iterations),
            positions=[position for item in items for position in item.predicates],
            lemmas=[lemma for item in items for lemma in item.lemmas],
            lengths=[items[owner].n_words for owner in owners],
            inventory=self.inventory,
            threshold=threshold,
            trace=trace,
        )
        return list(zip(owners, propositions, strict=True))

    def save(self, folder: str | Path, *, precision: Precision = "full") -> None:
        """Write the model folder: config.json, vocab.json, weights, and what sources need.

        The folder appears under its name only when it is whole; a model that was there is replaced.
        Raises ModelError if something else is there.
        """
        folder = Path(folder)
        if folder.exists() and not _is_replaceable(folder):
            raise ModelError(
                f"{folder}: expected a model folder to replace, or nothing, got something else; "
                "give another name"
            )
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
            new = Path(temporary) / "new"
            new.mkdir()
            _write_json(new / "config.json", {"format": FORMAT, **dataclasses.asdict(self.config)})
            _write_json(new / "vocab.json", self.inventory.to_dict())
            save_weights(self.network.state_dict(), new, precision=precision)
            self.network.vectors.save_files(new)
            if folder.exists():
                os.replace(folder, Path(temporary) / "old")
            os.replace(new, folder)

    @classmethod
    def load(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> "Labeler":
        """Read a model folder; raises ModelError naming what is missing, damaged or too new.

        A model trained with fastText vectors looks for their file where its config.json says, and
        warns if it is gone: words that the data of training did not have are then unknown.
        """
        folder = Path(folder)
        config = _read_config(folder / "config.json")
        inventory = Inventory.from_dict(_read_json(folder / "vocab.json"), source=str(folder))
        with _NoInitialisation():
            network = make_network(config, inventory, folder=folder)
        weights = load_weights(folder)
        _check(weights, network.state_dict(), folder)
        network.load_state_dict(weights, assign=True)
        attach_files(network, config.embeddings)
        return cls(network, config, device=device)


class _NoInitialisation(TorchFunctionMode):
    """Leaves new parameters unset: drawing millions of numbers to overwrite them takes seconds."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if func in (Tensor.normal_, Tensor.uniform_):
            return args[0]
        return func(*args, **(kwargs or {}))


def _with_predicates(item: Indexed, sentence: Sentence, found: Tensor) -> Indexed:
    positions = tuple(found.nonzero().flatten().tolist())
    lemmas = tuple(lemma_of(sentence, position) for position in positions)
    return dataclasses.replace(item, predicates=positions, lemmas=lemmas)


def _check(weights: dict[str, Tensor], wanted: dict[str, Tensor], folder: Path) -> None:
    missing = sorted(wanted.keys() - weights.keys())
    extra = sorted(weights.keys() - wanted.keys())
    if missing:
        raise ModelError(f"{folder}: expected tensor {missing[0]} (of {len(missing)} missing)")
    if extra:
        raise ModelError(f"{folder}: got tensor {extra[0]}, which config.json has no place for")
    for name, tensor in wanted.items():
        if weights[name].shape != tensor.shape:
            raise ModelError(
                f"{folder}: expected {name} of shape {tuple(tensor.shape)}, "
                f"got {tuple(weights[name].shape)}"
            )
        if weights[name].dtype != tensor.dtype:
            raise ModelError(
                f"{folder}: expected {name} in {tensor.dtype}, got {weights[name].dtype}"
            )


def _read_config(file: Path) -> ModelConfig:
    data = _read_json(file)
    found = data.pop("format", None)
    if not isinstance(found, int) or found > FORMAT:
        raise ModelError(
            f"{file}: expected a model folder of format {FORMAT} or older, got {found}; "
            "upgrade capsrl"
        )
    try:
        config = ModelConfig(
            embeddings=EmbeddingsConfig(**data.pop("embeddings")),
            encoder=EncoderConfig(**data.pop("encoder")),
            capsules=CapsulesConfig(**data.pop("capsules")),
            **data,
        )
    except (TypeError, KeyError) as error:
        raise ModelError(f"{file}: expected the settings of a model, got {error}") from None
    for part in (config.embeddings, config.encoder, config.capsules):
        for name, hint in typing.get_type_hints(type(part)).items():
            value = getattr(part, name)
            if not _fits(value, hint):
                raise ModelError(f"{file}: expected {name} to be {hint}, got {value!r}")
    return config


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401 - a type as the config spells it
    if typing.get_origin(hint) is Literal:
        return value in typing.get_args(hint)
    return isinstance(value, float | int if hint is float else hint)


def _is_replaceable(folder: Path) -> bool:
    """Whether replacing a folder loses nothing but a model."""
    return folder.is_dir() and (not any(folder.iterdir()) or (folder / "vocab.json").is_file())


def _read_json(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{file.parent}: expected {file.name}, got no such file") from None
    except ValueError as error:
        raise ModelError(f"{file}: expected JSON, got {error}") from None
    if not isinstance(data, dict):
        raise ModelError(f"{file}: expected a JSON object, got {type(data).__name__}")
    return data


def _write_json(file: Path, data: dict[str, Any]) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    # A word may hold a lone surrogate, which UTF-8 cannot; its escape is JSON's own.
    file.write_bytes(text.encode("utf-8", "backslashreplace"))
