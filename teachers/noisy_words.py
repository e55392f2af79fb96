"""Words as they are in chat and in headlines, made from clean ones.

Every word is replaced or left out, none is added. The words are those that capsrl's tokenizer
finds in such text: *dont* is *do* and *nt*, *ill call* is *i*, *ll* and *call*, but *annas* is one
word. Arguments are never left out, except for a modal that is part of another word, and only
headlines leave out predicates.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from capsrl.text.sentences import read_text
from capsrl.text.tokenizer import word_ends

# How often something is done to a casual sentence, or to each of its words that allow it.
NO_APOSTROPHES, NO_COMMAS, NO_FINAL = 0.75, 0.6, 0.6
SHORT_FORMS = 0.5
TYPOS = 0.04
MIN_LETTERS = 4  # of a word with a typo

_CLITICS = frozenset(("n't", "'s", "'m", "'d", "'re", "'ve", "'ll", "'"))
_SHORT = {
    "about": ("abt",),
    "and": ("n", "&"),
    "are": ("r",),
    "because": ("cuz", "bc", "coz"),
    "before": ("b4",),
    "definitely": ("definately",),
    "great": ("gr8",),
    "message": ("msg",),
    "minutes": ("mins",),
    "okay": ("ok", "k"),
    "people": ("ppl",),
    "please": ("pls", "plz"),
    "probably": ("prob", "prolly"),
    "really": ("rly", "realy"),
    "something": ("smth", "somethin"),
    "thanks": ("thx", "thanx"),
    "them": ("em",),
    "though": ("tho",),
    "through": ("thru",),
    "tomorrow": ("tmrw", "tomorow"),
    "tonight": ("tonite",),
    "until": ("til",),
    "with": ("w/",),
    "yes": ("yea", "yep"),
    "you": ("u",),
    "your": ("ur",),
}
# Two words that are written as one, as the tokenizer cuts it.
_PAIRS = {
    ("going", "to"): ("gon", "na"),
    ("want", "to"): ("wan", "na"),
    ("got", "to"): ("got", "ta"),
    ("let", "me"): ("lem", "me"),
    ("give", "me"): ("gim", "me"),
}
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")

_ARTICLES = frozenset(("the", "a", "an"))
_AMOUNTS = frozenset("bit couple dozen few fifth fourth half hundred little lot many million "
                     "quarter thousand third while".split())  # fmt: skip
_BE = frozenset(("is", "are", "was", "were"))
_AFTER_BE = frozenset(("VBN", "VBG", "JJ", "TO", "IN"))
_CLAUSES = frozenset(("that", "if", "whether", "because", "as", "like"))  # also tagged IN
_SPEAKERS = frozenset("i me my we us our you your".split())
_NOT_FIRST = frozenset("VB VBP VBZ VBD MD WP WRB WDT PRP UH EX ``".split())  # in a headline
_MAX_HEADLINE = 30


@dataclass(frozen=True)
class Clean:
    """A sentence as the teachers understood it; every field has an entry for each word.

    tags         the most probable ones; "" if the teachers have no tagger
    predicates   whether it is one
    arguments    whether it has a role of at least 0.5 in any proposition
    """

    words: Sequence[str]
    tags: Sequence[str]
    predicates: Sequence[bool]
    arguments: Sequence[bool]


Noisy = list[str | None]  # what replaces each word of a sentence; None: it is left out


def make_casual(clean: Clean, rng: random.Random) -> Noisy:
    """The words as somebody would type them in haste."""
    low = [word.lower().replace("’", "'") for word in clean.words]
    noisy: Noisy = [_retype(word, rng) for word in low]
    drop_apostrophes = rng.random() < NO_APOSTROPHES
    for at in range(1, len(low)):
        host, word = low[at - 1 : at + 1]
        is_verb_next = "VB" in clean.tags[at + 1 : at + 2]
        if word in _CLITICS and host not in _CLITICS and drop_apostrophes:
            noisy[at - 1 : at + 1] = _without_apostrophe(host, word, clean, at)
        elif (host, word) in _PAIRS and (word == "me" or is_verb_next):
            if rng.random() < SHORT_FORMS:
                noisy[at - 1 : at + 1] = _PAIRS[host, word]
    drop_commas, drop_final = rng.random() < NO_COMMAS, rng.random() < NO_FINAL
    for at in range(1, len(low)):
        is_final = at == len(low) - 1 and low[at] in ".!?"
        is_free = not (clean.predicates[at] or clean.arguments[at])
        if is_free and ((low[at] == "," and drop_commas) or (is_final and drop_final)):
            noisy[at] = None
    return noisy


def _without_apostrophe(host: str, clitic: str, clean: Clean, at: int) -> Noisy:
    """A word and its clitic, as the tokenizer cuts what is typed without the apostrophe.

    *dont* has two words as before, *ill* and *its* if the next word shows what they are; *annas*
    is one, with the labels of the first.
    """
    bare = clitic.replace("'", "")
    joined = host + bare
    text = " ".join([joined, *clean.words[at + 1 : at + 2]])
    words = [word for sentence in read_text(text) for word in sentence.words]
    if bare and words[:2] == [host, bare]:
        return [host, bare]
    is_modal = clitic in ("'ll", "'d")  # the subject keeps its role: *ill leave*
    is_needed = clean.predicates[at] or (clean.arguments[at] and not is_modal)
    if words[:1] == [joined] and clitic != "n't" and not is_needed and host[-1] != bare:
        return [joined, None]
    return [host, clitic]


def _retype(word: str, rng: random.Random) -> str:
    """A short form, a typo or the word itself."""
    if word in _SHORT:
        return rng.choice(_SHORT[word]) if rng.random() < SHORT_FORMS else word
    if len(word) < MIN_LETTERS or not (word.isascii() and word.isalpha()) or rng.random() >= TYPOS:
        return word
    at = rng.randrange(1, len(word))  # the first letter is mostly right
    before, letter, after = word[: at - 1], word[at], word[at + 1 :]
    row = next(row for row in _KEYS if letter in row)
    key = row.index(letter)
    typed = rng.choice(
        (
            before + letter + word[at - 1] + after,
            word[:at] + after,
            word[:at] + letter + letter + after,
            word[:at] + row[key + 1 if key == 0 else key - 1] + after,
        )
    )
    return typed if word_ends(typed) == (len(typed),) else word


def make_headline(clean: Clean) -> Noisy:
    """The words as a headline; unchanged unless they are a statement that is not about its author.

    A form of *be* is left out after a noun and before a participle, adjective or preposition.
    """
    low, noisy = [word.lower() for word in clean.words], list[str | None](clean.words)
    if not 4 <= len(low) <= _MAX_HEADLINE or low[-1] in ("?", "!"):
        return noisy
    if clean.tags[0] in _NOT_FIRST or not _SPEAKERS.isdisjoint(low):
        return noisy
    left_out = {len(low) - 1} if low[-1] == "." else set()
    for at, word in enumerate(low[:-1]):
        before, after = _neighbors(clean, at)
        is_be = after in _AFTER_BE and word in _BE and low[at + 1] not in _CLAUSES
        if word in _ARTICLES and clean.tags[at] == "DT" and low[at + 1] not in _AMOUNTS:
            left_out.add(at)
        elif is_be and before.startswith("NN"):
            left_out.add(at)
        elif word in ("has", "have") and low[at + 1] == "been" and before.startswith("NN"):
            if _neighbors(clean, at + 1)[1] in _AFTER_BE and not any(clean.arguments[at : at + 2]):
                left_out |= {at, at + 1}
        elif word == "will" and after == "VB" and before.startswith("NN"):
            noisy[at] = "to" if low[at + 1] != "not" else noisy[at]
    for at in left_out:
        if not clean.arguments[at]:
            noisy[at] = None
    return noisy if any(noisy) else list(clean.words)


def _neighbors(clean: Clean, at: int) -> tuple[str, str]:
    """The tags before and after a word, adverbs skipped; "" at the ends and beside *n't*."""
    before, after = at - 1, at + 1
    while before >= 0 and clean.tags[before] == "RB":
        before -= 1
    while after < len(clean.words) and clean.tags[after] == "RB":
        if clean.words[after].lower() in ("n't", "n’t"):
            return "", ""
        after += 1
    return (
        clean.tags[before] if before >= 0 else "",
        clean.tags[after] if after < len(clean.words) else "",
    )
