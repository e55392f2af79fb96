"""The values of a recipe in, every mistake in them out, in one ConfigError."""

import dataclasses
import difflib
import json
import math
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from capsrl.config import LossConfig, Recipe
from capsrl.errors import ConfigError

_Test = Callable[[float], bool]
# What a number must be, beyond its type; `not test(value)` so that NaN is refused too.
RANGES: tuple[tuple[str, _Test, tuple[str, ...]], ...] = (
    (
        "at least 0 and below 1",
        lambda value: 0 <= value < 1,
        (
            "model.embeddings.dropout",
            "model.encoder.dropout",
            "model.capsules.dropout",
            "train.warmup",
            "train.average",
        ),
    ),
    (
        "at least 1",
        lambda value: value >= 1,
        (
            "model.encoder.width",
            "model.capsules.size",
            "model.capsules.rank",
            "model.capsules.iterations",
            "model.capsules.parts",
            "model.capsules.lookup_width",
            "train.epochs",
            "train.batch_words",
            "train.patience",
        ),
    ),
    (
        "at least 0",
        lambda value: 0 <= value < math.inf,
        (
            "model.embeddings.learned",
            "model.embeddings.characters",
            "model.embeddings.tags",
            "model.encoder.layers",
            "model.encoder.predicate_width",
            "loss.l2",
            "loss.uniqueness",
            "loss.earlier",
            "loss.sense",
            "loss.predicates",
            "loss.tags",
            "train.seed",
            "train.weight_decay",
            "train.transformer_rate",
            "train.checkpoint_every",
        ),
    ),
    (
        "above 0",
        lambda value: 0 < value < math.inf,
        (
            "train.learning_rate",
            "train.clip",
            "model.capsules.initial_scale",
            "model.capsules.initial_agreement",
        ),
    ),
    ("above 0 and at most 1", lambda value: 0 < value <= 1, ("train.layer_decay",)),
)

# pydantic's names of errors, in our words.
_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a string",
    "dict_type": "a table",
    "dataclass_type": "a table",
}


def check_values(values: Mapping[str, Any], *, source: str, overrides: Sequence[str] = ()) -> None:
    """Raise ConfigError naming every unknown key, wrong type and number out of range."""
    unknown = dict(_unknown_keys(Recipe, values))
    mistyped = dict(_type_errors(values, unknown))
    problems = {**unknown, **mistyped}
    # Of a value that has the wrong type, the range says nothing new.
    problems |= {k: text for k, text in _range_errors(values).items() if k not in mistyped}
    if not mistyped:
        problems |= _contradictions(values)
    if not problems:
        return
    ours = {override.partition("=")[0].strip() for override in overrides}
    raise ConfigError(
        "\n".join(
            f"{'--set' if key in ours else source}: {problem}" for key, problem in problems.items()
        )
    )


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as one, with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _unknown_keys(
    kind: type, values: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    hints = typing.get_type_hints(kind)
    for key, value in values.items():
        if key not in hints:
            yield prefix + key, f"unknown key {prefix}{key}{_suggestion(prefix + key)}"
        elif dataclasses.is_dataclass(hints[key]) and isinstance(value, Mapping):
            yield from _unknown_keys(hints[key], value, f"{prefix}{key}.")


def _suggestion(key: str) -> str:
    """The nearest key anywhere in a recipe, by its last part first: people also misplace keys."""
    known = list(_known_keys(Recipe))
    last = key.rpartition(".")[2]
    by_last = [name for name in known if name.rpartition(".")[2] == last]
    near = by_last or difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def _known_keys(kind: type, prefix: str = "") -> Iterator[str]:
    for key, hint in typing.get_type_hints(kind).items():
        yield prefix + key
        if dataclasses.is_dataclass(hint):
            yield from _known_keys(hint, f"{prefix}{key}.")  # type: ignore[arg-type]


def _type_errors(
    values: Mapping[str, Any], unknown: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    try:
        import pydantic
    except ImportError:
        raise ConfigError("recipes need pydantic: pip install 'capsrl[model]'") from None
    try:
        # Through JSON: strict mode then still takes tables for dataclasses and 1 for 1.0, but
        # neither "1" for 1 nor 0 for false. Dates, which no key wants, become strings.
        pydantic.TypeAdapter(Recipe).validate_json(json.dumps(values, default=str), strict=True)
    except pydantic.ValidationError as errors:
        for error in errors.errors():
            key = ".".join(str(part) for part in error["loc"])
            if key in unknown:
                continue
            if error["type"] == "missing":
                yield key, f"expected {key}, got none{_missing_hint(key)}"
                continue
            wanted = _WANTED.get(error["type"]) or error.get("ctx", {}).get("expected")
            got = json.dumps(error["input"], ensure_ascii=False)
            yield key, f"{key}: expected {wanted or error['msg']}, got {got}"


def _missing_hint(key: str) -> str:
    return "; name the corpus in [data]" if key.startswith("data") else ""


def _range_errors(values: Mapping[str, Any]) -> dict[str, str]:
    flat = flatten(values)
    return {
        key: f"{key}: expected {wanted}, got {flat[key]}"
        for wanted, test, keys in RANGES
        for key in keys
        if isinstance(flat.get(key), int | float) and not test(flat[key])
    }


def _contradictions(values: Mapping[str, Any]) -> dict[str, str]:
    """Choices that are fine one by one and mean nothing together."""
    embeddings = values.get("model", {}).get("embeddings", {})
    problems = {}
    sources = ("transformer", "elmo", "fasttext", "learned", "characters")
    if not any(embeddings.get(name) for name in sources):
        names = ", ".join(sources)
        key = "model.embeddings"
        problems[key] = f"{key}: expected at least one source of word vectors ({names}), got none"
    for name in ("fine_tune", "mark_predicate"):
        if embeddings.get(name) and not embeddings.get("transformer"):
            key = f"model.embeddings.{name}"
            problems[key] = f"{key}: expected model.embeddings.transformer beside it, got none"
    changing = embeddings.get("fine_tune") or embeddings.get("mark_predicate")
    stays = embeddings.get("elmo") or (embeddings.get("transformer") and not changing)
    if values.get("train", {}).get("keep_states") and not stays:
        key = "train.keep_states"
        problems[key] = (
            f"{key}: expected ELMo, or a transformer that is neither fine-tuned nor shown the "
            "predicate, whose states stay the same, got none"
        )
    l2 = values.get("loss", {}).get("l2", LossConfig().l2)
    decay = values.get("train", {}).get("weight_decay", 0.0)
    if l2 > 0 and decay > 0:
        key = "train.weight_decay"
        problems[key] = (
            f"{key}: expected 0 beside loss.l2 = {l2}, which pulls at the weights already, "
            f"got {decay}; set loss.l2 = 0.0 to decay them instead"
        )
    return problems
