"""Write propositions as BIO tags, bracketed lines, and as the SRL predictor of AllenNLP does.

A word can have only one tag, so overlapping phrases are cut:

- The predicate has the tag V, and every argument keeps its head word. An argument whose head word
  is the predicate, or the head word of a more probable argument, is left out.
- From the shortest phrase to the longest, each gets those of its words around the head word that
  no other has.

Phrases that do not overlap are kept whole. An argument without a phrase has only its head word;
`capsrl.text.phrases.with_phrases` finds the phrases of a parsed sentence.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from capsrl.frames.roles import propbank_role
from capsrl.sentence import Argument, Proposition, Sentence

PREDICATE = "V"


def bio_tags(sentence: Sentence, proposition: Proposition) -> list[str]:
    """Return a tag for each word: B-A0 and I-A0 in the phrase of A0, B-V at the predicate, O."""
    tags = ["O"] * len(sentence)
    for role, first, last in _bio_chunks(proposition):
        tags[first : last + 1] = [f"B-{role}"] + [f"I-{role}"] * (last - first)
    return tags


def bracketed(sentence: Sentence, proposition: Proposition) -> str:
    """Return the words of a sentence with its phrases: `[A0 Mira] [V sold] [A1 her bicycle] .`."""
    return _bracketed(sentence, proposition, "[{} {}]".format)


def format_brackets(sentence: Sentence) -> str:
    """Return a bracketed line for each proposition, or the bare words if there is none."""
    lines = [bracketed(sentence, each) for each in sentence.propositions]
    return "".join(f"{line}\n" for line in lines or [" ".join(sentence.words)])


def format_allennlp(sentence: Sentence) -> str:
    """Return a line of JSON like the output of AllenNLP; see `to_allennlp`."""
    return json.dumps(to_allennlp([sentence])) + "\n"


def to_allennlp(sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Return the sentences of one text as the SRL predictor of AllenNLP returns a sentence.

    {"verbs": [{"verb": "sold", "description": "[ARG0: Mira] [V: sold] ...", "tags": [...]}],
     "words": ["Mira", "sold", ...]}
    Roles have the names of PropBank. Tags and descriptions are about the words of all sentences.
    """
    words = [word for sentence in sentences for word in sentence.words]
    verbs, before = [], 0
    for sentence in sentences:
        after = before + len(sentence)
        for each in sentence.propositions:
            tags = [tag[:2] + propbank_role(tag[2:]) for tag in bio_tags(sentence, each)]
            described = _bracketed(sentence, each, _propbank_brackets)
            verb = {
                "verb": sentence.words[each.predicate],
                "description": " ".join([*words[:before], described, *words[after:]]),
                "tags": ["O"] * before + tags + ["O"] * (len(words) - after),
            }
            verbs.append(verb)
        before = after
    return {"verbs": verbs, "words": words}


def _propbank_brackets(role: str, words: str) -> str:
    return f"[{propbank_role(role)}: {words}]"


def _bracketed(
    sentence: Sentence, proposition: Proposition, mark: Callable[[str, str], str]
) -> str:
    parts: list[str] = []
    done = 0
    for role, first, last in _bio_chunks(proposition):
        parts += sentence.words[done:first]
        done = last + 1
        parts.append(mark(role, " ".join(sentence.words[first:done])))
    return " ".join([*parts, *sentence.words[done:]])


def _bio_chunks(proposition: Proposition) -> Iterator[tuple[str, int, int]]:
    """Yield role, first and last word of the predicate and its arguments, in their order."""
    arguments = _arguments_by_head(proposition)
    roles = {head: argument.role for head, argument in arguments.items()}
    roles[proposition.predicate] = PREDICATE
    owner = {head: head for head in roles}  # word -> head of the chunk that has it
    phrases = {head: each.phrase for head, each in arguments.items() if each.phrase is not None}
    for head, phrase in sorted(phrases.items(), key=lambda item: item[1].last - item[1].first):
        for words in (range(head - 1, phrase.first - 1, -1), range(head + 1, phrase.last + 1)):
            for word in words:
                if word in owner:
                    break
                owner[word] = head
    for head, role in sorted(roles.items()):
        chunk = [word for word, has in owner.items() if has == head]
        yield role, min(chunk), max(chunk)


def _arguments_by_head(proposition: Proposition) -> dict[int, Argument]:
    """Return the arguments that can have a tag: the most probable one of each head word."""
    found: dict[int, Argument] = {}
    for argument in sorted(proposition.arguments, key=_improbability):
        if argument.word != proposition.predicate:
            found.setdefault(argument.word, argument)
    return found


def _improbability(argument: Argument) -> float:
    return 0.0 if argument.probability is None else 1 - argument.probability
