"""Choose the sentences of a text: English prose, once each, unlike the held-out sentences."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from capsrl.sentence import Sentence
from corpora.held_out import HeldOut
from corpora.text.markup import CUT

Words = tuple[str, ...]
Check = Callable[[Words], bool]

_LENGTHS = range(3, 71)  # words
_FUNCTION_WORDS = frozenset(
    "the a an this that these those of to in on at by for with from about into as and or but if "
    "so because when while is are was were be been am 's 're 'm 've do does did have has had will "
    "would can could should may might must not n't i you he she it we they me him her us them my "
    "your his its our their what which who how there here just very more than then no all some "
    "any up out ca wo na im dont u".split()
)
# One of these also shows that a sentence of fewer than six words is English.
_SHORT_SENTENCE_WORDS = frozenset(
    "yes yeah no ok okay thanks thank please hi hello good great nice sorry too also really love "
    "like know think see get got go let's let why where well now new one ever never always add mix "
    "stir cook serve bake pour place heat remove cover cut let use make put simmer boil".split()
)
_UNWANTED = re.compile(
    r"[\\{}<>|=`~^_#@]|::|->|//|\$\$|\(\)"  # code and tables
    r"|(?:https?|ftp)\s?:|\bwww\.|\b[\w-]+\.(?:com|org|net|gov|edu|io)\b"  # addresses
    r"|\d{3}\)?[-. ]+\d{3}[-. ]+\d{4}"  # telephone numbers
    r"|(\b\w+\b)(?: \1){3}|([^\w\s.!?])\s?\2\s?\2|[.!?]{7}"  # repetitions
    f"|{CUT}",
    re.IGNORECASE,
)
_LETTERS_AND_DIGITS = re.compile(r"[^\W_]+")
_BULLETS = frozenset(("-", "–", "—", "*", "•", "·", ">", "+", "--", "**", "o"))


def has_usual_length(words: Words) -> bool:
    """Test if a sentence has 3 to 70 words; enough for text that was edited."""
    return len(words) in _LENGTHS


def is_headline(words: Words) -> bool:
    """Test if words are mostly English words, not code, a table or an address."""
    if not has_usual_length(words) or max(map(len, words)) > 30:
        return False
    text = " ".join(words)
    characters = len(text) - len(words) + 1  # without the blanks
    n_letters = sum(map(str.isalpha, text))
    n_ascii = sum(character.isascii() and character.isalpha() for character in text)
    if n_letters < 0.75 * characters or n_ascii < 0.95 * n_letters or _UNWANTED.search(text):
        return False
    alphabetic = _alphabetic(words)
    n_single = sum(len(word) == 1 and word not in "aiu" for word in alphabetic)
    return len(alphabetic) >= max(3, 0.6 * len(words)) and n_single <= max(1, 0.1 * len(words))


def is_prose(words: Words) -> bool:
    """Test if words are also an English sentence or phrase, which has function words."""
    if not is_headline(words):
        return False
    alphabetic = _alphabetic(words)
    n_function = sum(word in _FUNCTION_WORDS for word in alphabetic)
    if len(words) < 6:
        return n_function > 0 or not _SHORT_SENTENCE_WORDS.isdisjoint(alphabetic)
    return n_function >= 0.15 * len(alphabetic)


def choose(
    sentences: Iterable[Sentence],
    *,
    check: Check,
    seen: set[str],
    held_out: HeldOut,
    left_out: Counter[str],
) -> Iterator[Words]:
    """Yield the words of the sentences to keep.

    check     whether words are of the kind that is wanted
    seen      the sentences before, by their letters and digits; gets those that are kept
    left_out  gets the number of sentences left out, by reason
    """
    for sentence in sentences:
        words = () if _is_torn(sentence) else _without_bullet(sentence.words)
        key = _key(words)
        if not check(words):
            left_out["sentences that are not prose"] += 1
        elif key in seen:
            left_out["sentences that repeat another"] += 1
        elif held_out.overlaps(words):
            left_out["sentences that overlap held-out sentences"] += 1
        else:
            seen.add(key)
            yield words


def limit_alike(sentences: Iterable[Words], most: int) -> Iterator[Words]:
    """Yield at most so many sentences that begin with the same four words, as templates do."""
    counts: Counter[Words] = Counter()
    for words in sentences:
        counts[words[:4]] += 1
        if counts[words[:4]] <= most:
            yield words


def sample(sentences: Sequence[Words], most: int) -> list[Words]:
    """Return so many sentences, in their order, by a hash of each.

    Unlike with a random sample, one sentence more or fewer changes nothing for the others.
    """
    chosen = set(sorted(sentences, key=_hash)[:most])
    return [words for words in sentences if words in chosen]


def _hash(words: Words) -> bytes:
    return hashlib.sha256(_key(words).encode("utf-8", "replace")).digest()


def _key(words: Words) -> str:
    return " ".join(_LETTERS_AND_DIGITS.findall(" ".join(words).lower()))


def _alphabetic(words: Words) -> list[str]:
    return [word.lower() for word in words if any(map(str.isalpha, word))]


def _is_torn(sentence: Sentence) -> bool:
    """Test if a sentence was cut inside a name such as xorg.conf."""
    if not sentence.text or not sentence.offsets:
        return False
    start, end = sentence.offsets[0][0], sentence.offsets[-1][1]
    before, after = sentence.text[max(0, start - 1) : start], sentence.text[end : end + 1]
    starts_inside = before == "." and not sentence.text[start].isupper()
    return starts_inside or after.islower() or after.isdigit()


def _without_bullet(words: Words) -> Words:
    """Return the words of a list item without its bullet or number."""
    while words and words[0] in _BULLETS:
        words = words[1:]
    if len(words) > 2 and re.fullmatch(r"\d{1,2}", words[0]) and words[1] in (".", ")"):
        return words[2:]
    return words
