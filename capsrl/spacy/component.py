"""The spaCy pipeline component: its settings, its model, and how a pipeline is saved with it."""

import dataclasses
import inspect
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from thinc.api import CupyOps, get_current_ops
from thinc.compat import cupy

import capsrl
from capsrl.errors import ConfigError, ModelError
from capsrl.files.opening import open_writer
from capsrl.files.replacing import remove_abandoned, replacing_folder
from capsrl.models import shipped_models
from capsrl.options import TEXT_LAYOUT, OptionKeywords, Options
from capsrl.spacy.drawing import add_colors
from capsrl.spacy.scorer import KEYS, PER_ROLE, SCORER_NAME, Scorer, score_examples
from capsrl.spacy.sentences import split_doc, to_sentence
from capsrl.spacy.storage import clear, store
from capsrl.spacy.tokens import SPANS_KEY, register, set_spans

if TYPE_CHECKING:  # what runs the model is imported with the first Doc, not with the pipeline
    from capsrl.labeler import Labeler
    from capsrl.sentence import Sentence

_CPU = "cpu"
_SETTINGS, _MODEL = "settings.json", "model"  # in the component's folder
# A Doc marks no predicates, traces are not stored in it, and its words are known.
_UNUSED = ("predicates", "trace", *TEXT_LAYOUT)
_SETTING_DEFAULTS: dict[str, Any] = {
    "model": "en",
    "device": None,
    "runtime": None,
    "threads": None,
    "frames": None,
    **{each.name: each.default for each in dataclasses.fields(Options) if each.name not in _UNUSED},
    "spans_key": SPANS_KEY,
    "scorer": {"@scorers": SCORER_NAME},
}
_ANY_LANGUAGE = "xx"  # spaCy's multi-language pipelines


def make_component(nlp: Language, name: str, **settings: Any) -> "Component":  # noqa: ANN401
    """The component for `nlp.add_pipe("capsrl", config={...})`.

    Warns if the model that ships with capsrl is for another language than the pipeline.
    """
    component = Component(name, **settings)
    languages = (component.model, _ANY_LANGUAGE)
    if component.model in shipped_models() and nlp.lang not in languages:
        warnings.warn(
            f"{name}: the model is for the language {component.model}, not {nlp.lang}; name one of "
            "that language in the setting `model`",
            stacklevel=2,
        )
    return component


# spaCy reads the names of the settings from the signature.
make_component.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Any)
        for name in ("nlp", "name", *_SETTING_DEFAULTS)
    ]
)
Language.factory(
    "capsrl",
    assigns=["doc._.propositions", "span._.propositions", "token._.proposition", "doc.spans"],
    default_config=_SETTING_DEFAULTS,
    # None: reported, but not part of the score that chooses the best model in `spacy train`.
    default_score_weights=dict.fromkeys((*KEYS, PER_ROLE)),
    func=make_component,
)


class Component(Pipe):
    """Finds the propositions of Docs; the Docs of a batch share the batches of the model.

    model      the name of a model that ships with capsrl, or a model folder
    device     cpu, cuda, cuda:1; default: the GPU that spaCy uses (`spacy.prefer_gpu()`, called
               before the component is made), otherwise the CPU
    runtime    onnx or torch; default as for `capsrl.load`: onnx on the CPU for exported models
    threads    maximum number of CPU threads; default: the process's cores, or one if they are busy
    frames     PropBank frame files, or an index of them; default as for `capsrl.load`
    spans_key  where in `doc.spans` predicates and phrases are put; None for nowhere
    scorer     compares predicted Docs with reference Docs in `nlp.evaluate`; None for no figures
    options    fields of `capsrl.Options`: pos, iterations, threshold, phrases, ...

    The model is loaded when it is first needed: a pipeline read from disk brings its own.
    Raises ConfigError for an option that is out of range.
    """

    def __init__(
        self,
        name: str = "capsrl",
        *,
        model: str = "en",
        device: str | None = None,
        runtime: str | None = None,
        threads: int | None = None,
        frames: str | None = None,
        spans_key: str | None = SPANS_KEY,
        scorer: Scorer | None = score_examples,
        **options: Unpack[OptionKeywords],
    ) -> None:
        try:
            self.options = Options(**options | {"predicates": "found"})
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
        register()
        self.name = name
        self.model = model
        self.device = device
        self.runtime = runtime
        self.threads = threads
        self.frames = frames
        self.spans_key = spans_key
        self.scorer = scorer
        self._preferred = _device_of_spacy()
        self._files: dict[str, bytes] | None = None  # of a model that came as bytes
        self._labeler: Labeler | None = None
        self._process = os.getpid()

    def __call__(self, doc: Doc) -> Doc:
        """Label one Doc; `nlp.pipe` labels many Docs much faster."""
        return self._label([doc])[0]

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Label a stream of Docs, `batch_size` of them at a time.

        Errors go to the handler of `nlp.set_error_handler` with the Docs of the batch.
        """
        handle_error = self.get_error_handler()
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            try:
                labeled = self._label(batch)
            except Exception as error:
                handle_error(self.name, self, batch, error)
            else:
                yield from labeled

    @property
    def labeler(self) -> "Labeler":
        """The model, loaded at first use; raises ModelError if it cannot be loaded."""
        if os.getpid() != self._process:
            # A worker of nlp.pipe(n_process=...). The threads that torch had before the fork do
            # not exist here, and it would wait for them forever.
            self._process, self.threads = os.getpid(), 1
            if self._labeler is not None:
                self._labeler.threads = 1
        if self._labeler is None:
            if self._files is None:
                self._labeler = self._load(self.model)
            else:
                # Kept while the component lives: an exported model reads parts of its folder when
                # they are needed.
                folder = tempfile.mkdtemp()
                weakref.finalize(self, _remove_temporary, folder, os.getpid())
                _write_folder(self._files, Path(folder))
                self._labeler = self._load(folder)
        return self._labeler

    def _load(self, model: str) -> "Labeler":
        load = partial(
            capsrl.load, model, runtime=self.runtime, threads=self.threads, frames=self.frames
        )
        preferred = _CPU if self.runtime == "onnx" else self._preferred
        try:
            labeler = load(device=self.device or preferred)
        except ConfigError as error:
            if self.device is not None or preferred == _CPU:
                raise
            # spaCy uses a GPU by cupy, which does not need torch.
            warnings.warn(
                f"{self.name}: torch cannot use the GPU that spaCy uses ({error}); labels on the "
                "CPU, as device='cpu' does without this warning",
                stacklevel=2,
            )
            labeler = load(device=_CPU)
        add_colors(labeler.inventory.roles)
        return labeler

    def _label(self, docs: list[Doc]) -> list[Doc]:
        labeler = self.labeler
        words = [tokens for doc in docs for tokens in split_doc(doc)]
        sentences = [to_sentence(tokens, labeler.inventory.tags) for tokens in words]
        self._check_tags(sentences)
        labeled = list(labeler.label_sentences(sentences, options=self.options))
        for doc in docs:  # only now: an error has left them as they were
            clear(doc)
        for tokens, sentence in zip(words, labeled, strict=True):
            store(tokens, sentence.propositions, phrases=self.options.phrases)
        if self.spans_key is not None:
            for doc in docs:
                set_spans(doc, self.spans_key)
        return docs

    def _check_tags(self, sentences: "Sequence[Sentence]") -> None:
        if self.options.pos is None or self.labeler.backend.has_tagger:
            return
        if not all(sentence.tags for sentence in sentences):
            raise ConfigError(
                f"{self.name}: pos needs tags, and neither the Doc has them nor {self.model} a "
                f"tagger; put a tagger before {self.name}, or leave out pos"
            )

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the component's folder, with a copy of the model unless it ships with capsrl.

        The other settings are in the config of the pipeline.
        """
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        model = path / _MODEL
        if self._is_shipped():
            _write_settings(path, self.model)
            remove_abandoned(model)
            shutil.rmtree(model, ignore_errors=True)
            return
        _ = self.labeler  # raises now if it is not a model, not when the pipeline is read
        if self._files is not None:
            with replacing_folder(model) as new:
                _write_folder(self._files, new)
        elif Path(self.model).resolve() != model.resolve():  # else it is saved where it was read
            with replacing_folder(model) as new:
                shutil.copytree(self.model, new, dirs_exist_ok=True)
        _write_settings(path, None)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "Component":
        """Use the model that `to_disk` wrote."""
        path = Path(path)
        if not (path / _SETTINGS).is_file():
            raise ModelError(f"{path / _SETTINGS}: not found")
        model = srsly.read_json(path / _SETTINGS).get("model")
        return self._use(str(path / _MODEL) if model is None else str(model), None)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model for `from_bytes`: its name if it ships with capsrl, else all its files."""
        files = None
        if not self._is_shipped():
            _ = self.labeler  # raises if it is not a model
            files = self._files or _read_folder(Path(self.model))
        return cast("bytes", srsly.msgpack_dumps({"model": self.model, "files": files}))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "Component":
        """Use the model that `to_bytes` returned."""
        settings: dict[str, Any] = srsly.msgpack_loads(data)
        return self._use(settings["model"], settings["files"])

    def _use(self, model: str, files: dict[str, bytes] | None) -> "Component":
        self.model, self._files, self._labeler = model, files, None
        return self

    def _is_shipped(self) -> bool:
        return self._files is None and self.model in shipped_models()

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.__dict__ | {"_labeler": None}  # loaded again where it is needed
        return type(self), (self.name,), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        register()


def _write_settings(folder: Path, model: str | None) -> None:
    with open_writer(folder / _SETTINGS) as file:
        file.write(srsly.json_dumps({"model": model}))


def _device_of_spacy() -> str:
    """The device that spaCy uses in this thread, as set by `spacy.prefer_gpu()`."""
    if not isinstance(get_current_ops(), CupyOps):
        return _CPU
    return f"cuda:{cupy.cuda.Device().id}" if cupy else "cuda"


def _remove_temporary(folder: str, process: int) -> None:
    """Remove a folder, unless this is a fork of the process that uses it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _read_folder(folder: Path) -> dict[str, bytes]:
    """The contents of all files in a folder, by their relative paths."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _write_folder(files: dict[str, bytes], folder: Path) -> None:
    """Write such files; raises ModelError for a path that leads out of the folder."""
    for name, content in files.items():
        file = folder / name
        if not file.resolve().is_relative_to(folder.resolve()):
            raise ModelError(f"pipeline bytes: {name}: not a file of a model folder")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
