"""Rules that read facts off an English sentence: markers, negation, modals, voice and tense.

They work on words and Penn tags, so they need neither a parser nor the model. Without such tags
only what the roles and the words themselves say is known: `voice` and `tense` are then None.
`capsrl.proposition` offers the results as properties; docs/facts.md is for users.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from capsrl.proposition import Proposition

# Words are compared in lower case without apostrophes: 's is s, n't is nt.
_BE = frozenset("be am is are was were been being s re m".split())
_GET = frozenset("get gets got gotten getting".split())
_HAVE = frozenset("have has had having ve d".split())
_DO = frozenset("do does did".split())
_PERFECT = frozenset("been had got gone come become happened arrived disappeared died".split())
_AUXILIARIES = _BE | _GET | _HAVE | _DO
_MODALS = {"ca": "can", "wo": "will", "sha": "shall", "ll": "will", "d": "would"}
_NOT = frozenset("not never nt nor neither".split())
# After *no* in what is no numbered argument: *in no way*, but not *with no help*.
_NO_MORE = frozenset("longer more way means point circumstances account condition".split())
_NOT_SOME = frozenset("a an one all any every everyone everybody everything many much".split())
_ONLY = frozenset("only just merely simply solely".split())
_NOBODY = frozenset("nobody noone none nothing neither nowhere".split())
_PREPOSITIONS = frozenset(
    "about above across after against along among around as at because before behind below beneath "
    "beside besides between beyond by despite during except for from if in inside into like near "
    "of off on onto outside over past per since than through throughout till to toward towards "
    "under unless until upon via whether while with within without although though".split()
)
# Prepositions of several words whose first is tagged as another part of speech.
_BEFORE_PREPOSITIONS = frozenset("according due prior thanks owing regardless instead".split())
_ABOUT = frozenset("about around over under".split())  # before a number: nearly
_EDGES = frozenset(", ; : - -- – — `` '' \" ( )".split())
_VERB_TAGS = frozenset("VB VBD VBG VBN VBP VBZ MD".split())
_JOINED = ("VB", "VBN", "VBG")  # what shares the auxiliaries of a verb that it is joined to
_REACH = 8  # words between the parts of a coordination


class Words(NamedTuple):
    """The words of a sentence, which the propositions of the sentence refer to."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None
    lemmas: tuple[str, ...] | None
    text: str | None
    offsets: tuple[tuple[int, int], ...] | None

    def tag(self, word: int) -> str:
        """The tag of a word; empty without tags."""
        return self.tags[word] if self.tags else ""

    def form(self, word: int) -> str:
        """The word in lower case without apostrophes."""
        return plain(self.words[word])


def plain(word: str) -> str:
    """A word in lower case without apostrophes."""
    return word.lower().replace("'", "").replace("’", "")


def marker_length(around: Words, first: int, last: int, head: int, role: str) -> int:
    """How many words at the start of a phrase are its preposition or subordinator."""
    at = first
    while at < min(last, max(head, first + 1)) and (
        _is_marker(around, at, role) or _leads_to_marker(around, at, head)
    ):
        at += 1
    return at - first


def _is_marker(around: Words, at: int, role: str) -> bool:
    form, tag, following = around.form(at), around.tag(at), around.tag(at + 1)
    if not around.tags:
        return form in _PREPOSITIONS
    if form in _ABOUT and following == "CD" and role == "A0":
        return False
    if tag == "WRB" or form == "once":  # a question is its own content: how it works
        return role.startswith("AM-") and form in ("when", "whenever", "while", "once")
    return tag in ("IN", "TO", "ADP", "SCONJ") or form in ("that", "to") and following[:1] in "VPM"


def _leads_to_marker(around: Words, at: int, head: int) -> bool:
    """Whether a word begins a preposition of several words: *according to*, *even though*."""
    is_first = around.form(at) in _BEFORE_PREPOSITIONS or around.tag(at) == "RB"
    return is_first and at + 1 < head and around.tag(at + 1) in ("IN", "TO", "ADP", "SCONJ")


def trimmed(around: Words, first: int, last: int, head: int) -> tuple[int, int]:
    """A phrase without punctuation and possessive mark at its edges; it keeps its head."""
    while first < head and around.words[first] in _EDGES:
        first += 1
    while last > head and (around.words[last] in _EDGES or around.tag(last) == "POS"):
        last -= 1
    return first, last


def lemma_of(proposition: "Proposition") -> str:
    """The sense without its number, else the lemma of the word; with the noun of a light verb."""
    sense, noun = proposition.sense, proposition.noun
    verb = sense.rpartition(".")[0] or sense if sense else _word_lemma(proposition)
    return f"{verb}_{_word_lemma(noun)}" if noun else verb


def _word_lemma(proposition: "Proposition") -> str:
    around = proposition.around
    if around and around.lemmas:
        return around.lemmas[proposition.predicate].lower()
    return (proposition.form or "").lower()


def noun_of(verb: "Proposition", propositions: "Sequence[Proposition]") -> "Proposition | None":
    """The proposition of the noun of a light verb, by the arguments AM-PRR and AM-LVB."""
    named = {each.word for each in verb.arguments if each.role == "AM-PRR"}
    for noun in propositions:
        back = (each.word for each in noun.arguments if each.role == "AM-LVB")
        if noun is not verb and (noun.predicate in named or verb.predicate in back):
            return noun
    return None


def is_negated(proposition: "Proposition") -> bool:
    """Whether an AM-NEG, *not* or *never* before the verb, or a negative argument denies it."""
    around, known = proposition.around, proposition.arguments
    denying = [each.word for each in known if each.role == "AM-NEG"]
    if around is not None:
        before = _before(proposition, around, _verb_of(proposition))
        denying += [word for word in before if around.form(word) in _NOT]
        last = len(around.words) - 1  # what is not only so is so
        denying = [word for word in denying if around.form(min(word + 1, last)) not in _ONLY]
        # Clauses deny what is in them: *he said nobody called*.
        known = tuple(each for each in known if around.tag(each.word) not in _VERB_TAGS)
    phrases = ((each.role, f"{each.marker or ''} {each.text or each.form}") for each in known)
    return bool(denying) or any(denies(*each) for each in phrases)


def denies(role: str, phrase: str) -> bool:
    """Whether a phrase denies its proposition: *nobody*, *to none of them*, *no reason*."""
    text = phrase.lower().split()
    at_no_time = text[:3] == ["at", "no", "time"]  # *in no time* is soon
    while text and text[0] in _PREPOSITIONS:
        del text[0]
    if not text or role.startswith(("R-", "AM-DIS", "AM-PRR", "AM-LVB")):
        return False
    if role.startswith("AM-"):
        is_never = text[0] == "no" and not _NO_MORE.isdisjoint(text[1:2])
        return text[0] in ("never", "nowhere") or is_never or at_no_time
    if text[0] == "not":  # not so of: not only Ann, not until May
        return not _NOT_SOME.isdisjoint(text[1:2])
    if text[0] == "no":  # nor is it: no matter how, no more than ten
        return len(text) > 1 and text[1] != "matter" and text[2:3] != ["than"]
    return text[0] in _NOBODY


def modal_of(proposition: "Proposition") -> str | None:
    """The modal verb: *can* of *can't*, *will* of *won't*."""
    found = [plain(each.form or "") for each in proposition.arguments if each.role == "AM-MOD"]
    if not found and (group := _verb_group(proposition)):
        found = [form for form, tag in group if tag == "MD"]
    return _MODALS.get(found[0], found[0]) if found else None


def voice_of(proposition: "Proposition") -> str | None:
    """Active or passive; None of nouns, adjectives, and words without Penn tags."""
    group = _verb_group(proposition)
    if group is None:
        return None
    *helping, (_, tag) = group
    if not helping:  # *the car sold yesterday* is a participle alone
        return "passive" if tag == "VBN" else "active"
    helps = {"VBN": _BE | _GET, "VBD": _BE}.get(tag, ())
    return "passive" if helping[-1][0] in helps else "active"


def tense_of(proposition: "Proposition") -> str | None:
    """Past, present or future; None of what is not finite, and of modals other than *will*.

    The perfect counts as past: *has sold*, *could have sold*.
    """
    group = _verb_group(proposition)
    if group is None:
        return None
    (first, tag), *others = group
    has = [form in _HAVE for form, _ in group[:-1]]
    if first == "going to" or (tag == "MD" and _MODALS.get(first, first) in ("will", "shall")):
        return "future"
    if tag == "VBD" or any(has[1:]) or has[:1] == [True] and others[0][1] in ("VBN", "VBD"):
        return "past" if tag in ("MD", "VBD", "VBP", "VBZ") else None
    return "present" if tag in ("VBP", "VBZ") else None


def _verb_of(proposition: "Proposition") -> int:
    """The verb whose auxiliaries count: the predicate, or the light verb of a noun."""
    light = (each.word for each in proposition.arguments if each.role == "AM-LVB")
    return next(light, proposition.predicate)


def _verb_group(proposition: "Proposition") -> list[tuple[str, str]] | None:
    """The auxiliaries and the verb with their tags; None of what is no verb.

    It begins with *going to* of *is going to sell*, and with *has* for *'s* where that is not *is*.
    """
    around, verb = proposition.around, _verb_of(proposition)
    if around is None or around.tag(verb) not in _VERB_TAGS:
        return None
    before = _before(proposition, around, verb)
    found = [*sorted(word for word in before if _is_auxiliary(around, word)), verb]
    forms = [around.form(word) for word in found]
    if forms[0] == "s" and found[0] < verb and around.tag(verb) in ("VBN", "VBD"):
        agents = (each.word for each in proposition.all_arguments if each.role == "A0")
        if forms[1] in _PERFECT or len(forms) == 2 and min(agents, default=verb) < verb:
            forms[0] = "has"
    group = [(form, around.tag(word)) for form, word in zip(forms, found, strict=True)]
    to = [around.form(word) for word in range(max(0, found[0] - 2), found[0])]
    return [("going to", "VBG"), *group] if to in (["going", "to"], ["gon", "na"]) else group


def _is_auxiliary(around: Words, at: int) -> bool:
    tag = around.tag(at)
    return tag == "MD" or (around.form(at) in _AUXILIARIES and tag in _VERB_TAGS)


def _before(proposition: "Proposition", around: Words, verb: int) -> Iterator[int]:
    """The words before a verb that belong to it, from right to left.

    These are auxiliaries, adverbs and *not*. Passed over are a subject after an auxiliary (*was it
    sold*), adjuncts (*will no doubt win*) and verbs before *and* (*was opened, aired and sold*).
    """
    at = verb - 1
    tag = around.tag(verb)
    while at >= 0:
        if around.tag(at) == "CC":
            yield at  # it may be *nor*
            earlier = range(at - 1, max(-1, at - _REACH), -1) if tag in _JOINED else ()
            at = next((word for word in earlier if around.tag(word) == tag), 0) - 1
        elif around.words[at] == "," and around.tag(at - 1) == tag and at < verb - 1:
            at -= 2
        elif _is_part(around, at):
            yield at
            at -= 1
        elif (found := _ends_at(proposition, at)) is not None:
            at = found[0] - 1
            if not (found[1] or _inverts(around, at)):
                return
        else:
            return


def _is_part(around: Words, at: int) -> bool:
    form = around.form(at)
    of_modal = form == "to" and at > 0 and around.form(at - 1) == "ought"
    return around.tag(at)[:2] == "RB" or form in _NOT or of_modal or _is_auxiliary(around, at)


def _ends_at(proposition: "Proposition", at: int) -> tuple[int, bool] | None:
    """The first word of an argument that ends here, and whether it is an adjunct."""
    for each in proposition.all_arguments:
        first, last = (each.phrase.first, each.phrase.last) if each.phrase else (each.word,) * 2
        is_adjunct = each.role.startswith("AM-")
        if last == at and first > 0 and (is_adjunct or each.role[1:].isdigit()):
            return first, is_adjunct
    return None


def _inverts(around: Words, at: int) -> bool:
    """Whether a question begins here: *had* in *had he left*, but not in *he had it cleaned*."""
    while at > 0 and around.form(at) in _NOT:
        at -= 1
    # Of *do* and modals a noun phrase before the verb is the subject: *in May did they leave*.
    may_have_object = around.form(at) not in _DO and around.tag(at) != "MD"
    has_subject = may_have_object and at > 0 and around.tag(at - 1)[:2] in ("NN", "PR", "EX")
    return _is_part(around, at) and around.tag(at)[:2] != "RB" and not has_subject
