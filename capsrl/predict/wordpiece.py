"""Split words into the subwords of BERT, without the package tokenizers.

That package requires an HTTP client and more, 43 MB together, of which labeling with a model like
BERT needs the 100 lines below. They give the same subwords; only a few hundred characters that are
newer than its Unicode tables, or changed their category since, are treated as `unicodedata` says.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# CJK ideographs, each of which is a word: the ranges that BERT was trained with. `re` compiles them
# at the first word that is not ASCII: that takes 2 ms.
_IDEOGRAPHS = (
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f])"
)
_PLAIN = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


@dataclass(frozen=True)
class Encoding:
    """Subwords, under the names that the package tokenizers has for them.

    ids       n  of the subwords
    word_ids  n  the number of the word that each subword belongs to; None for special tokens
    """

    ids: list[int]
    word_ids: list[int | None]


class WordPiece:
    """The tokenizer that a file tokenizer.json describes; `read_wordpiece` makes it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = {**settings, "truncation": None, "padding": None}
        model, normalizer = settings["model"], settings["normalizer"]
        self.vocabulary: dict[str, int] = model["vocab"]
        self.prefix: str = model["continuing_subword_prefix"]
        self.max_chars: int = model["max_input_chars_per_word"]
        self.unknown = self.vocabulary[model["unk_token"]]
        self.lowercase: bool = normalizer["lowercase"]
        accents = normalizer["strip_accents"]
        self.strip_accents: bool = self.lowercase if accents is None else accents
        self.split_ideographs: bool = normalizer["handle_chinese_chars"]
        self.special = {each["content"]: int(each["id"]) for each in settings["added_tokens"]}
        names = sorted(self.special, key=len, reverse=True)
        self._special = re.compile(f"({'|'.join(map(re.escape, names))})") if names else None
        self.opening, self.closing = _around(settings["post_processor"])

    def encode(
        self,
        text: str | list[str],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Find the subwords of a text, or of its words if it is pretokenized."""
        words = text if isinstance(text, list) else [text]
        ids: list[int] = []
        word_ids: list[int | None] = []
        for number, word in enumerate(words):
            found = self.encode_word(word)
            ids += found
            word_ids += [number] * len(found)
        first, last = (self.opening, self.closing) if add_special_tokens else ([], [])
        word_ids = [*([None] * len(first)), *word_ids, *([None] * len(last))]
        return Encoding([*first, *ids, *last], word_ids)

    def encode_word(self, word: str) -> list[int]:
        """The ids of the subwords of one word; none if it has no visible character."""
        ids: list[int] = []
        for part in self._special.split(word) if self._special else [word]:
            if part in self.special:
                ids.append(self.special[part])
            elif part:
                for token in _split_words(self._normalize(part)):
                    ids += self._pieces(token)
        return ids

    def token_to_id(self, token: str) -> int | None:
        """The id of a subword or special token."""
        return self.special.get(token, self.vocabulary.get(token))

    def to_str(self) -> str:
        """The settings in JSON; tokenizers with the same settings find the same subwords."""
        return json.dumps(self._settings, sort_keys=True)

    def _normalize(self, text: str) -> str:
        if not (text.isascii() and text.isprintable()):
            text = "".join(_clean_text(character) for character in text)
            if self.split_ideographs:
                text = re.sub(_IDEOGRAPHS, r" \1 ", text)
            if self.strip_accents:
                apart = unicodedata.normalize("NFD", text)
                text = "".join(c for c in apart if unicodedata.category(c) != "Mn")
        # One by one: the lower case of a sigma must not depend on what follows it.
        return "".join(map(str.lower, text)) if self.lowercase else text

    def _pieces(self, token: str) -> list[int]:
        """The longest subword that begins the token, then the longest that goes on, and so on."""
        if len(token) > self.max_chars:
            return [self.unknown]
        ids: list[int] = []
        start, prefix = 0, ""
        while start < len(token):
            for end in range(len(token), start, -1):
                subword = self.vocabulary.get(prefix + token[start:end])
                if subword is not None:
                    break
            else:
                return [self.unknown]
            ids.append(subword)
            start, prefix = end, self.prefix
        return ids


def read_wordpiece(file: Path) -> WordPiece | None:
    """Read a tokenizer.json; None if it describes a tokenizer unlike that of BERT.

    Raises ValueError if it is not JSON.
    """
    settings = json.loads(file.read_text(encoding="utf-8"))
    try:
        return WordPiece(settings) if _is_bert(settings) else None
    except (AttributeError, KeyError, OverflowError, TypeError):
        return None


def _is_bert(settings: Any) -> bool:  # noqa: ANN401 - whatever JSON has
    kinds = [settings[part]["type"] for part in ("normalizer", "pre_tokenizer", "model")]
    return (
        kinds == ["BertNormalizer", "BertPreTokenizer", "WordPiece"]
        and settings["normalizer"]["clean_text"] is True
        and settings["post_processor"]["type"] in ("TemplateProcessing", "BertProcessing")
        and all(each.items() >= _PLAIN.items() for each in settings["added_tokens"])
    )


def _around(processor: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """Ids of the special tokens before and after a sentence."""
    if processor["type"] == "BertProcessing":
        return [processor["cls"][1]], [processor["sep"][1]]
    before: list[int] = []
    after: list[int] = []
    ids = before
    for part in processor["single"]:
        if "Sequence" in part:
            ids = after
        else:
            ids += processor["special_tokens"][part["SpecialToken"]["id"]]["ids"]
    return before, after


def _clean_text(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character in "\0\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co"):
        return ""
    return " " if character.isspace() else character


def _split_words(text: str) -> Iterator[str]:
    """The tokens of a text: cut at white space, and around every punctuation mark."""
    start = 0
    for end, character in enumerate(text):
        blank = character == " "
        if blank or _is_punctuation(character):
            if start < end:
                yield text[start:end]
            if not blank:
                yield character
            start = end + 1
    if start < len(text):
        yield text[start:]


def _is_punctuation(character: str) -> bool:
    if character.isascii():  # symbols such as $ and + too
        return not character.isalnum() and "!" <= character <= "~"
    return unicodedata.category(character)[0] == "P"
