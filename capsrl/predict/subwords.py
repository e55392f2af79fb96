"""Read sentences as the subwords of a pretrained encoder, without torch.

A sentence longer than the encoder accepts is read in windows that overlap by half, and every word
is taken from the window in which it has most context; nothing is truncated.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsrl.errors import ModelError, install_hint
from capsrl.predict import Ids, to_ids
from capsrl.predict.folder import check_file, read_json
from capsrl.predict.wordpiece import WordPiece, read_wordpiece
from capsrl.sentence import Sentence
from capsrl.text.spacing import spaces_before

if TYPE_CHECKING:  # an extra, for tokenizers unlike that of BERT
    from tokenizers import Tokenizer

# Characters of a word that are tokenized. One subword represents the word anyway, and a line of
# dashes or a megabyte without a space must not fill hundreds of windows. URLs in EWT are shorter.
MAX_CHARS = 128
_MAX_KEPT = 1 << 16  # words whose subwords are kept

Arrays = dict[str, NDArray[Any]]
_Places = list[tuple[Ids | int, Ids]]  # of each sentence: window and column of its words
Marked = Sequence[int | None] | None  # for each sentence the position of a predicate, or None


@dataclass(frozen=True)
class Subwords:
    """One sentence as the encoder reads it.

    ids     n  subword ids, without the special tokens that open and close a window
    firsts  T  index in `ids` of the first subword of each word
    cached  row of the first word in the state cache, None if the sentence is not cached
    """

    ids: Ids
    firsts: Ids
    cached: int | None = None


class SubwordReader:
    """The tokenizer of an encoder, and how its windows are made.

    folder  contains tokenizer.json
    config  the settings of the encoder
    causal  the encoder attends to the left only
    """

    def __init__(self, folder: Path, config: Mapping[str, Any], *, causal: bool = False) -> None:
        self.causal = causal
        self.tokenizer = read_tokenizer(folder)
        self.spaced = needs_spaces(self.tokenizer)
        self.opening, self.closing = special_subwords(self.tokenizer)
        if self.causal and not self.opening and isinstance(config.get("bos_token_id"), int):
            # The tokenizer converted from a GGUF file adds no BOS token, without which the states
            # of Gemma are useless.
            self.opening = [config["bos_token_id"]]
        self.unknown = unknown_subword(self.tokenizer)
        self.max_subwords = max_subwords(config) - len(self.opening) - len(self.closing)
        if self.max_subwords < 1:
            raise ModelError(
                f"{folder / 'config.json'}: expected a larger max_position_embeddings, got "
                f"{config.get('max_position_embeddings')}"
            )
        self._kept: dict[str, list[int]] = {}  # the subwords of a word
        self._n_subwords = config.get("vocab_size")

    def read(self, sentence: Sentence) -> Subwords:
        """Tokenize a sentence; a word that the tokenizer drops becomes one unknown subword."""
        words = [word[:MAX_CHARS] for word in sentence.words]
        if self.spaced:
            spaces = spaces_before(sentence.words)
            words = [
                f" {word}" if space else word for word, space in zip(words, spaces, strict=True)
            ]
        kept = self._kept
        new = [word for word in words if word not in kept]
        encoded = self._encode(new) if new else {}
        found = [kept.get(word) or encoded[word] for word in words]
        ends = list(accumulate(map(len, found)))
        return Subwords(to_ids(list(chain.from_iterable(found))), to_ids([0, *ends][: len(words)]))

    def _encode(self, new: list[str]) -> dict[str, list[int]]:
        """Find and keep the subwords of the new words of a sentence.

        The tokenizer reads given words one by one: their neighbors have no influence.
        """
        encoding = self.tokenizer.encode(
            _encodable(new), is_pretokenized=True, add_special_tokens=False
        )
        found: list[list[int]] = [[] for _ in new]
        for subword, word in zip(encoding.ids, encoding.word_ids, strict=True):
            if word is not None:
                found[word].append(subword)
        if len(self._kept) >= _MAX_KEPT:
            self._kept = {}  # a new dictionary: other threads may be reading the old one
        encoded = {word: ids or [self.unknown] for word, ids in zip(new, found, strict=True)}
        self._kept.update(encoded)
        return encoded

    def collate(self, items: Sequence[Subwords], marked: Marked = None) -> Arrays:
        """Arrange the sentences of a batch in windows.

        marked  for each sentence the word whose subwords get token type 1, or None
        -> subwords, types, mask  W S
        -> words   B T, index of the subword of each word in subwords.flatten()
        """
        windows: list[Ids] = []
        types: list[Ids] = []
        chosen: _Places = []
        for item, word in zip(items, marked or [None] * len(items), strict=True):
            type_ids = np.zeros_like(item.ids)
            if word is None and not self.causal and len(item.ids) <= self.max_subwords:
                chosen.append((len(windows), item.firsts + len(self.opening)))
                windows.append(item.ids)
                types.append(type_ids)
                continue
            starts, size = windows_of(len(item.ids), self.max_subwords)
            ends = np.append(item.firsts[1:], len(item.ids))[: len(item.firsts)]
            if word is not None:
                type_ids[item.firsts[word] : ends[word]] = 1
            subwords = ends - 1 if self.causal else item.firsts
            window = best_window(subwords, starts, size, causal=self.causal)
            chosen.append((window + len(windows), subwords - starts[window] + len(self.opening)))
            for start in starts:
                windows.append(item.ids[start : start + size])
                types.append(type_ids[start : start + size])
        return self._pad(windows, types, chosen)

    def windows(self, item: Subwords) -> tuple[Ids, Ids]:
        """Arrange one sentence in windows, as `collate` does, but without padding.

        -> subwords  W S
        -> words     T, index of the subword of each word in subwords.flatten()
        """
        if self.causal or len(item.ids) > self.max_subwords:
            arrays = self.collate([item])
            return arrays["subwords"], arrays["words"][0]
        subwords = np.array([*self.opening, *item.ids, *self.closing], dtype=np.int64)
        return subwords[None], item.firsts + len(self.opening)

    def _pad(self, windows: list[Ids], types: list[Ids], chosen: _Places) -> Arrays:
        n_open, n_close = len(self.opening), len(self.closing)
        lengths = np.array([len(window) for window in windows], np.int64)[:, None]  # W 1
        columns = np.arange(n_open + n_close + lengths.max(initial=0))
        is_inside = (columns >= n_open) & (columns < n_open + lengths)  # W S
        subwords, type_ids = np.zeros((2, *is_inside.shape), np.int64)
        subwords[:, :n_open] = self.opening
        subwords[is_inside] = _all_ids(windows)
        type_ids[is_inside] = _all_ids(types)
        for number, subword in enumerate(self.closing):
            np.put_along_axis(subwords, n_open + lengths + number, subword, 1)
        if isinstance(n := self._n_subwords, int) and (found := subwords.max(initial=0)) >= n:
            raise ModelError(f"tokenizer.json: expected ids below vocab_size, {n}, got {found}")
        n_words = np.array([len(column) for _, column in chosen], np.int64)
        words = np.zeros((len(chosen), n_words.max(initial=0)), np.int64)
        words[np.arange(words.shape[1]) < n_words[:, None]] = _all_ids(
            window * len(columns) + column for window, column in chosen
        )
        mask = columns < n_open + lengths + n_close
        return {"subwords": subwords, "types": type_ids, "mask": mask, "words": words}


def read_encoder_config(folder: Path) -> dict[str, Any]:
    """The settings in config.json, under the names that this type of encoder uses."""
    return read_json(folder / "config.json")


def read_tokenizer(folder: Path) -> "Tokenizer | WordPiece":
    """The tokenizer of a folder, with truncation and padding switched off.

    Raises ModelError for a file that is missing or damaged, or if it needs the package tokenizers
    and that is not installed.
    """
    file = folder / "tokenizer.json"
    if not file.exists():
        raise ModelError(
            f"{folder}: tokenizer.json is missing; save the tokenizer again with "
            "a current transformers (AutoTokenizer.from_pretrained(...).save_pretrained(...))"
        )
    check_file(file)
    try:
        wordpiece = read_wordpiece(file)
    except (ValueError, RecursionError, OSError) as error:
        raise ModelError(f"{file}: not a tokenizer: {error}") from None
    return wordpiece or _read_other_tokenizer(file)


def _read_other_tokenizer(file: Path) -> "Tokenizer":
    try:
        from tokenizers import Tokenizer
        from tokenizers.pre_tokenizers import ByteLevel
    except ImportError:
        raise ModelError(
            f"{file}: tokenizers unlike that of BERT need tokenizers: {install_hint('tokenizers')}"
        ) from None
    try:
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.encode("\N{PHOENICIAN LETTER ALF}")  # raises if it has nothing for unknown words
    except BaseException as error:  # the library raises nothing narrower, or panics
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ModelError(f"{file}: not a tokenizer: {error}") from None
    if isinstance(tokenizer.pre_tokenizer, ByteLevel):
        # Words are given one by one; without a space, "dog" would be tokenized as in "hotdog".
        tokenizer.pre_tokenizer.add_prefix_space = True
    # Some published files truncate at 128 subwords; we split long sentences into windows.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def is_plain_bert(config: Mapping[str, Any]) -> bool:
    """Whether an encoder has exactly the architecture of BERT."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
    )


def needs_spaces(tokenizer: "Tokenizer | WordPiece") -> bool:
    """Whether the tokenizer needs an explicit space to recognize the start of a word.

    The tokenizers of Gemma and Llama 3 do. Others add a space, or its symbol, before every word, or
    mark the subwords that continue a word.
    """

    def encode(words: list[str]) -> list[int]:
        return list(tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False).ids)

    text = tokenizer.encode("a a", add_special_tokens=False).ids
    return text == encode(["a", " a"]) != encode(["a", "a"])


def special_subwords(tokenizer: "Tokenizer | WordPiece") -> tuple[list[int], list[int]]:
    """Ids of the special tokens that the tokenizer puts before and after a sentence."""
    bare = tokenizer.encode(["a"], is_pretokenized=True, add_special_tokens=False).ids
    whole = tokenizer.encode(["a"], is_pretokenized=True).ids
    start = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return whole[:start], whole[start + len(bare) :]


def unknown_subword(tokenizer: "Tokenizer | WordPiece") -> int:
    """The id that represents a word without subwords."""
    for name in ("[UNK]", "<unk>", "[PAD]", "<pad>"):
        subword = tokenizer.token_to_id(name)
        if subword is not None:
            return int(subword)
    return 0


def max_subwords(config: Mapping[str, Any]) -> int:
    """How many subwords a window may have, special tokens included: at most 512."""
    limit = config.get("max_position_embeddings", 512)
    if not isinstance(limit, int):
        raise ModelError(f"max_position_embeddings: expected an integer, got {limit!r:.60}")
    # RoBERTa and its relatives number positions from the padding id + 1.
    offset = {"roberta": 2, "xlm-roberta": 2, "camembert": 2, "mpnet": 2}
    return min(limit - offset.get(config.get("model_type", ""), 0), 512)


def windows_of(n_subwords: int, size: int) -> tuple[Ids, int]:
    """Starts of the windows over a sentence, and their size; the last window ends with it."""
    if n_subwords <= size:
        return np.zeros(1, dtype=np.int64), max(n_subwords, 1)
    step = max(size // 2, 1)
    starts = np.arange(0, n_subwords - size + step, step)
    return np.minimum(starts, n_subwords - size), size


def best_window(subwords: Ids, starts: Ids, size: int, *, causal: bool = False) -> Ids:
    """For each subword the window in which the smaller of its two contexts is largest.

    causal  only the context to the left counts
    """
    left = subwords[:, None] - starts[None]
    context = np.where(left < size, left, -1) if causal else np.minimum(left, size - 1 - left)
    window: Ids = context.argmax(1)
    return window


def any_marked(marked: Marked) -> bool:
    """Whether a word of any sentence is marked."""
    return any(word is not None for word in marked or ())


def _all_ids(arrays: Iterable[Ids]) -> Ids:
    return np.concatenate([np.zeros(0, np.int64), *arrays])


def _encodable(words: list[str]) -> list[str]:
    """The words as UTF-8 can encode them: tokenizers refuse lone surrogates."""
    try:
        "".join(words).encode("utf-8")
    except UnicodeEncodeError:
        return [word.encode("utf-8", "replace").decode("utf-8") for word in words]
    return words
