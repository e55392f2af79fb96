"""Figures 1 and 2 of the paper with the English model that ships, on the paper's sentence."""

import functools

import numpy as np
from matplotlib.figure import Figure

from capsrl.labeler import Labeler
from capsrl.models import find_model
from capsrl.sentence import Proposition, Sentence
from capsrl.show.drawing import svg
from reproduce.figures import BLACK, BLUE, ORANGE, as_svg
from reproduce.results import NO_ROLE

WORDS = "An injury prevented Hiti from signing the contract ."
PREDICATE = "signing"
ROLES = (NO_ROLE, "A0", "A1", "A2", "A3", "AM-TMP", "AM-LOC")  # that figure 2 shows


@functools.cache
def labeled() -> Sentence:
    """The sentence with its propositions and the traces of routing."""
    sentence = Sentence(tuple(WORDS.split()))
    [found] = Labeler.load(find_model("en")).label_sentences(
        [sentence], predicates="found", trace=True
    )
    return found


def draw_example() -> str:
    """Figure 1: predicates and their arguments."""
    return svg(labeled())


@as_svg
def draw_architecture(figure: Figure, sentence: Sentence) -> None:
    """Figure 2: words, role capsules and global node of one proposition, after the last iteration.

    A line from a word to a role is as strong as the belief that the word fills the role; a role
    capsule is as dark as it is long.
    """
    proposition = _proposition(sentence)
    trace = proposition.trace
    assert trace is not None and trace.capsules is not None, "the model routes"
    lengths = np.linalg.norm(trace.capsules[-1], axis=-1)  # R
    axes = figure.subplots()
    step = (len(sentence.words) - 1) / (len(ROLES) - 1)
    places = {trace.roles.index(name): i * step for i, name in enumerate(ROLES)}
    for role, x in places.items():
        name = "none" if trace.roles[role] == NO_ROLE else trace.roles[role]
        shade = {"facecolor": BLUE, "alpha": 0.15 + 0.75 * float(lengths[role])}
        axes.text(x, 1, name, ha="center", va="center", bbox={"boxstyle": "round", **shade})
        axes.text(x, 1.17, f"|v| = {lengths[role]:.2f}", ha="center", fontsize=7)
        for word in range(len(sentence.words)):
            belief = float(trace.beliefs[-1][word, role])
            axes.plot([word, x], [0.1, 0.9], color=ORANGE, alpha=belief, linewidth=2 * belief)
        if trace.nodes is not None:
            axes.plot([x, 4], [1.25, 1.85], color=BLACK, linewidth=0.5, linestyle="--")
    for word, text in enumerate(sentence.words):
        weight = "bold" if word == proposition.predicate else "normal"
        axes.text(word, 0, text, ha="center", va="center", fontweight=weight)
    if trace.nodes is not None:
        axes.text(4, 2, "global node", ha="center", va="center", bbox={"facecolor": "white"})
    axes.set(xlim=(-0.7, len(sentence.words) - 0.3), ylim=(-0.2, 2.2))
    axes.axis("off")


def _proposition(sentence: Sentence) -> Proposition:
    found = {sentence.words[each.predicate]: each for each in sentence.propositions}
    return found.get(PREDICATE, sentence.propositions[-1])
