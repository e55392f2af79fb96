"""Write propositions as a graph in PENMAN notation, a skeleton for annotators of AMR and UMR.

    (s / sell-01~e.1
       :ARG0 (m / "Mira"~e.0)
       :ARG1 (b / bicycle~e.3))

Nodes are senses and head words, aligned with `::tok`; a word of several arguments is one node.
Modifiers have the relations of AMR. C- and R- roles and light verbs are left out. Propositions of
which none is an argument of another are joined by `and`.
"""

import json
import re

from capsrl.frames.roles import propbank_role
from capsrl.sentence import Proposition, Sentence

_RELATIONS = {
    "AM-CAU": "cause", "AM-COM": "accompanier", "AM-DIR": "direction", "AM-EXT": "extent",
    "AM-GOL": "destination", "AM-LOC": "location", "AM-MNR": "manner", "AM-PNC": "purpose",
    "AM-PRP": "purpose", "AM-TMP": "time",
}  # fmt: skip
_NEGATION = "AM-NEG"
_LEFT_OUT = ("C-", "R-", "AM-LVB", "V", _NEGATION)


def format_penman(sentence: Sentence) -> str:
    """Return the graph of a sentence with its metadata; without propositions it is `amr-empty`."""
    tokens = " ".join("_".join(word.split()) for word in sentence.words)
    about = {"id": sentence.id, "snt": sentence.text, "tok": tokens}
    lines = [f"# ::{key} {' '.join(value.split())}" for key, value in about.items() if value]
    found = {each.predicate: each for each in reversed(sentence.propositions) if not each.noun}
    words = {each.word for proposition in found.values() for each in proposition.arguments}
    variables: dict[int, str] = {}
    roots = sorted(found, key=lambda word: (word in words, word))
    trees = [_tree(root, sentence, found, variables) for root in roots if root not in variables]
    if len(trees) != 1:
        parts = "".join(f"\n:op{number} {tree}" for number, tree in enumerate(trees, start=1))
        trees = [f"(top / {'and' if trees else 'amr-empty'}{parts})".replace("\n", "\n   ")]
    return "\n".join([*lines, *trees]) + "\n\n"


def _tree(
    root: int, sentence: Sentence, found: dict[int, Proposition], variables: dict[int, str]
) -> str:
    """Write a word with what depends on it; without recursion, since sentences may be long."""
    text, stack = "", [(0, "", root)]
    while stack:
        depth, relation, word = stack.pop()
        text += f"\n{'   ' * depth}{relation} " if depth else relation
        if relation == ")" or word in variables:
            text += "" if relation == ")" else variables[word]
            continue
        concept = _concept(sentence, word, found.get(word))
        letter = next((each for each in concept.lower() if "a" <= each <= "z"), "x")
        number = sum(each[0] == letter for each in variables.values()) + 1
        variables[word] = letter if number == 1 else f"{letter}{number}"
        text += f"({variables[word]} / {concept}"
        stack.append((0, ")", word))
        for each in reversed(found[word].arguments if word in found else ()):
            if each.word != word and not each.role.startswith(_LEFT_OUT):
                name = _RELATIONS.get(each.role, propbank_role(each.role))
                stack.append((depth + 1, ":" + re.sub(r"[\s()/:~]+", "-", name), each.word))
    return text


def _concept(sentence: Sentence, word: int, proposition: Proposition | None) -> str:
    """The sense, the lemma, or a name in quotes; with its alignment and polarity."""
    tags, lemmas = sentence.tags or (), sentence.lemmas or tuple(map(str.lower, sentence.words))
    is_name, name = False, lemmas[word]
    if proposition and proposition.sense:
        name = re.sub(r"[._]", "-", proposition.sense)
    elif tags and tags[word] in ("NNP", "NNPS", "PROPN"):
        is_name, name = True, sentence.words[word]
    if is_name or not re.fullmatch(r"\w[\w-]*", name):
        name = json.dumps(" ".join(name.split()), ensure_ascii=False)
    roles = [each.role for each in proposition.arguments] if proposition else []
    return f"{name}~e.{word}{' :polarity -' if _NEGATION in roles else ''}"
