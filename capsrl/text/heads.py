"""Find the head word of a phrase, for annotation that has spans and no heads.

capsrl trains on head words, as CoNLL-2009 does, while annotation tools and CoNLL-2005 mark spans.
The rule, of which the first part that applies decides:

1. A parsed sentence: the first word of the phrase whose syntactic head is outside it.
2. A sentence with parts of speech (Penn or universal): a phrase that begins with *to*, with a verb
   or a subordinator, or in which a finite verb follows the first nominal, has its first verb that
   is no auxiliary; any other has the last noun of its first nominal: *with my friends | from Oslo*.
3. Words alone: the last word before the first preposition, comma, conjunction or relative
   pronoun that is not at the beginning, and after *to* the next word. These are English words.
"""

from capsrl.sentence import Sentence

_SUBORDINATORS = frozenset(
    "that because if when while although though since unless whether before after until once as "
    "where why how what who which whose whom".split()
)
_PREPOSITIONS = frozenset(
    "of in on at by for with from to into about over under between through during against among "
    "without within toward towards upon across behind near off out like than per via".split()
)
_DETERMINERS = frozenset(
    "a an the this that these those my your his her its our their some any no every each".split()
)
_AUXILIARIES = frozenset(
    "be am is are was were been being have has had having do does did will would can could shall "
    "should may might must 'm 're 's 've 'd 'll not n't".split()
)
_MARKS = frozenset(", ; : . - -- — – ( ) [ ] \" '' `` “ ” and or but".split())
_STOPS = _SUBORDINATORS | _PREPOSITIONS | _MARKS
# The first letters of a tag, Penn and universal: which kind of word it is.
_NOUNS = ("NN", "PRP", "CD", "EX", "NOUN", "PROPN", "PRON", "NUM", "FW", "ADD", "$", "SYM")
_VERBS = ("VB", "MD", "VERB", "AUX")
_PARTICIPLES = ("VBN", "VBG")
_FINITE = ("VBD", "VBZ", "VBP", "MD", "VERB", "AUX")
_BREAKS = ("DT", "PRP", "W", "DET", "PRON")  # a second one begins another phrase


def find_head(sentence: Sentence, first: int, last: int) -> int:
    """The position of the head word of the phrase from word `first` to word `last`."""
    words = [word.lower() for word in sentence.words[first : last + 1]]
    if len(words) == 1:
        return first
    if sentence.heads is not None:
        inside = range(first, last + 1)
        outer = (word for word in inside if sentence.heads[word] not in inside)
        return next((word for word in outer if sentence.words[word] not in _MARKS), first)
    if sentence.tags is not None:
        return first + _by_tags(words, list(sentence.tags[first : last + 1]))
    return first + _by_words(words)


def _by_tags(words: list[str], tags: list[str]) -> int:
    openers = _STOPS | _DETERMINERS
    start = next((n for n, word in enumerate(words) if word not in openers), len(words) - 1)
    end = start
    while end + 1 < len(words) and _goes_on(words, tags, end + 1):
        end += 1
    following = tags[end + 1] if end + 1 < len(tags) else ""
    nouns = [n for n in range(start, end + 1) if tags[n].startswith(_NOUNS) and tags[n] != "PRP$"]
    opening = words[0] in _SUBORDINATORS - _DETERMINERS or tags[0].startswith(("W", "SCONJ"))
    begins = tags[start].startswith(_VERBS) and not (nouns and tags[start] in _PARTICIPLES)
    is_clause = opening or begins or following.startswith(_FINITE) or following == "VB"
    if is_clause and (verb := _verbs(words, tags)):
        return verb[0]
    return nouns[-1] if nouns else end


def _goes_on(words: list[str], tags: list[str], at: int) -> bool:
    """Whether a word belongs to the nominal that stands before it."""
    tag, following = tags[at], tags[at + 1] if at + 1 < len(tags) else ""
    inner = (*_PARTICIPLES, "HYPH", "AFX", "``", "''")  # *continued* growth, *"big"* growth
    if words[at] == "-" or tag in inner:
        return following.startswith((*_NOUNS, "JJ", "ADJ", *_PARTICIPLES))
    return words[at] not in _STOPS and not tag.startswith((*_BREAKS, *_VERBS, "IN", "TO", "ADP"))


def _verbs(words: list[str], tags: list[str]) -> list[int]:
    """The positions of the verbs, those that are no auxiliaries first."""
    verbs = (n for n, tag in enumerate(tags) if tag.startswith(_VERBS))
    return sorted(verbs, key=lambda n: words[n] in _AUXILIARIES)


def _by_words(words: list[str]) -> int:
    opening = _STOPS | _DETERMINERS | _AUXILIARIES
    start = next((n for n, word in enumerate(words) if word not in opening), len(words) - 1)
    if "to" in words[:start] or words[0] in _AUXILIARIES:
        return start if words[start - 1] not in _DETERMINERS else _end(words, start)
    return _end(words, start)


def _end(words: list[str], start: int) -> int:
    """The last word of the nominal that has the word `start`."""
    stops = (n for n in range(start + 1, len(words)) if words[n] in _STOPS | _DETERMINERS)
    return next(stops, len(words)) - 1
