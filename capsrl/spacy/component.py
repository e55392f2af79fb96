"""Docs in, the same Docs out with propositions: the component, its settings and its model."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import srsly
from spacy.language import Language
from spacy.tokens import Doc

import capsrl
from capsrl.errors import ConfigError, ModelError
from capsrl.options import PredicatePos, make_options
from capsrl.spacy.tokens import clear, register, sentences_of, store, to_sentence

if TYPE_CHECKING:  # torch is only needed once there is something to label
    from capsrl.labeler import Labeler
    from capsrl.sentence import Sentence

_SETTINGS, _MODEL = "settings.json", "model"  # in the component's folder


@Language.factory(
    "capsrl",
    assigns=["doc._.propositions"],
    default_config={"model": "en", "pos": None, "threshold": 0.0, "iterations": None},
)
def make_component(
    nlp: Language,
    name: str,
    model: str,
    pos: list[str] | None,
    threshold: float,
    iterations: int | None,
) -> "Component":
    """The component for `nlp.add_pipe("capsrl", config={...})`."""
    return Component(name, model=model, pos=pos, threshold=threshold, iterations=iterations)


class Component:
    """Finds the propositions of Docs; those of a batch share the batches of the model.

    model       the name of a model that ships with capsrl, or a model folder
    pos         keep only predicates of these parts of speech: verb, noun, adjective
    threshold   arguments less probable than this are left out
    iterations  of routing, if not as many as in training

    The model is loaded when it is first needed: a pipeline that is read from disk brings its own.
    """

    def __init__(
        self,
        name: str = "capsrl",
        *,
        model: str = "en",
        pos: Sequence[str] | None = None,
        threshold: float = 0.0,
        iterations: int | None = None,
    ) -> None:
        try:
            self.options = make_options(
                predicates="found",
                pos=cast("Sequence[PredicatePos] | None", pos),
                threshold=threshold,
                iterations=iterations,
            )
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
        register()
        self.name = name
        self.model = model
        self._files: dict[str, bytes] | None = None  # of a model that came as bytes
        self._labeler: Labeler | None = None
        self._process = os.getpid()

    def __call__(self, doc: Doc) -> Doc:
        """Label one Doc; many are labelled much faster by `nlp.pipe`."""
        return self._label([doc])[0]

    def pipe(self, docs: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Label a stream of Docs, `batch_size` of them at a time."""
        stream = iter(docs)
        while batch := list(islice(stream, batch_size)):
            yield from self._label(batch)

    @property
    def labeler(self) -> "Labeler":
        """The model, loaded at the first use; raises ModelError if it cannot be."""
        if os.getpid() != self._process:
            # A worker of nlp.pipe(n_process=...): the threads that torch had before a fork are
            # gone, and it would wait for them for ever. The workers share the cores anyway.
            import torch

            torch.set_num_threads(1)
            self._process = os.getpid()
        if self._labeler is None:
            if self._files is None:
                self._labeler = capsrl.load(self.model)
            else:
                with tempfile.TemporaryDirectory() as folder:
                    _write_files(self._files, Path(folder))
                    self._labeler = capsrl.load(folder)
        return self._labeler

    def _label(self, docs: list[Doc]) -> list[Doc]:
        labeler = self.labeler
        words = [tokens for doc in docs for tokens in sentences_of(doc)]
        sentences = [to_sentence(tokens, labeler.inventory.tags) for tokens in words]
        self._check_tags(sentences)
        labelled = labeler.label_sentences(sentences, options=self.options)
        for doc in docs:
            clear(doc)
        for tokens, sentence in zip(words, labelled, strict=True):
            store(tokens, sentence.propositions)
        return docs

    def _check_tags(self, sentences: "Sequence[Sentence]") -> None:
        if self.options.pos is None or self.labeler.network.tagger is not None:
            return
        if not all(sentence.tags for sentence in sentences):
            raise ConfigError(
                f"{self.name}: expected tags to choose predicates by"
                f", got neither a Doc nor a model ({self.model}) with them; "
                f"put a tagger before {self.name}, or leave out pos"
            )

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the component's folder; it has a copy of the model, unless that is a shipped one.

        pos, threshold and iterations are in the config of the pipeline.
        """
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        old, new = path / _MODEL, path / f"{_MODEL}.new"
        if self._is_shipped():
            srsly.write_json(path / _SETTINGS, {"model": self.model})
            shutil.rmtree(old, ignore_errors=True)
            return
        _ = self.labeler  # not a model: say so now, not to whom the pipeline is given
        shutil.rmtree(new, ignore_errors=True)
        if self._files is not None:
            _write_files(self._files, new)
        elif Path(self.model).resolve() != old.resolve():  # a pipeline saved where it was read
            shutil.copytree(self.model, new)
        if new.exists():
            shutil.rmtree(old, ignore_errors=True)
            new.rename(old)
        srsly.write_json(path / _SETTINGS, {"model": None})

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "Component":
        """Take the model from what `to_disk` wrote."""
        path = Path(path)
        if not (path / _SETTINGS).is_file():
            raise ModelError(f"{path}: expected {_SETTINGS}, got no such file")
        model = srsly.read_json(path / _SETTINGS).get("model")
        return self._take(str(path / _MODEL) if model is None else str(model), None)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """What `from_bytes` takes: the model folder itself, unless it is a shipped one."""
        files = None
        if not self._is_shipped():
            _ = self.labeler
            files = self._files or _read_files(Path(self.model))
        return cast("bytes", srsly.msgpack_dumps({"model": self.model, "files": files}))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "Component":
        """Take the model from what `to_bytes` gave."""
        settings: dict[str, Any] = srsly.msgpack_loads(data)
        return self._take(settings["model"], settings["files"])

    def _take(self, model: str, files: dict[str, bytes] | None) -> "Component":
        self.model, self._files, self._labeler = model, files, None
        return self

    def _is_shipped(self) -> bool:
        shipped = (Path(capsrl.__file__).parent / "models").glob("*/config.json")
        return self._files is None and self.model in {file.parent.name for file in shipped}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_labeler": None}  # loaded again where it is needed

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        register()


def _read_files(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _write_files(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        file = folder / name
        if not file.resolve().is_relative_to(folder.resolve()):
            raise ModelError(f"pipeline bytes: expected files of a model folder, got {name}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
