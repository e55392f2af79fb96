"""The model card: what a trained model is, learned from, and is worth, as its README.md."""

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from capsrl import __version__
from capsrl.config import Recipe
from capsrl.recipe import PATHS
from capsrl.recipe_checks import flatten
from capsrl.score import Scores


def make_card(
    recipe: Recipe,
    *,
    dev: Scores,
    tests: Mapping[str, Scores],
    n_sentences: int,
    earlier: Sequence[Scores] = (),
) -> str:
    """The card as Markdown, opened by the YAML block that model hubs read.

    earlier  scores on dev after 1, 2, ... iterations, fewer than the model was trained with
    """
    data = recipe.data
    name = data.name or os.path.basename(data.train)
    parts = [
        _front_matter(recipe),
        f"# Semantic role labelling, {data.language or 'language not stated'}: {name}\n",
        "Who did what to whom: for every predicate its sense, and the words that fill its roles "
        "(dependency SRL, CoNLL-2009 style).\n",
        "## Use\n",
        "```\ncapsrl predict MODEL_FOLDER FILE -o labelled.conll09\n"
        "capsrl evaluate MODEL_FOLDER GOLD_FILE\n```\n",
        "## Data\n",
        f"- corpus: {name}\n"
        f"- licence of the corpus: {data.licence or 'not stated in the recipe'}\n"
        f"- trained on {n_sentences} sentences of `{os.path.basename(data.train)}`, "
        f"chosen by F1 on `{os.path.basename(data.dev)}`\n",
        "## Scores\n",
        "Predicates given; official CoNLL-2009 counts, senses and arguments pooled; EM is the "
        "share of propositions that are right in sense and every argument.\n",
        _score_table(dev, earlier, tests),
        "## Recipe\n",
        f"capsrl {__version__}, seed {recipe.train.seed}; keys that differ from the defaults:\n",
        "```toml\n" + "".join(f"{line}\n" for line in _changes(recipe)) + "```\n",
        "## Limits\n",
        _limits(recipe),
    ]
    return "\n".join(parts)


def _front_matter(recipe: Recipe) -> str:
    lines = ["---"]
    if recipe.data.language:
        lines.append(f"language: {recipe.data.language}")
    if recipe.data.licence:
        # Hubs have a list of licences of their own, and read a name only beside "other".
        lines += ["license: other", f"license_name: {json.dumps(recipe.data.licence)}"]
    return "\n".join([*lines, "library_name: capsrl", "tags: [semantic-role-labeling]", "---\n"])


def _score_table(dev: Scores, earlier: Sequence[Scores], tests: Mapping[str, Scores]) -> str:
    rows = ["| file | precision | recall | F1 | EM | propositions |", "|---|--:|--:|--:|--:|--:|"]
    named = [
        (f"dev, after {n} of {len(earlier) + 1} iterations", scores)
        for n, scores in enumerate(earlier, start=1)
    ]
    for name, scores in [*named, ("dev (chosen on)", dev), *tests.items()]:
        counts = scores.official
        figures = (
            scores.labeled_precision,
            scores.labeled_recall,
            scores.labeled_f1,
            scores.exact_match,
        )
        cells = " | ".join(f"{figure:.2f}" for figure in figures)
        rows.append(f"| {name} | {cells} | {counts.gold_predicates} |")
    return "\n".join(rows) + "\n"


def _changes(recipe: Recipe) -> list[str]:
    """TOML lines of what the recipe sets; files by their names, which is what others can know."""
    settings = flatten(dataclasses.asdict(recipe))
    defaults: dict[str, Any] = flatten(dataclasses.asdict(Recipe(data=recipe.data)))
    lines = []
    for key, value in settings.items():
        is_data = key.startswith("data.")
        if value is None or value == "" or (not is_data and value == defaults[key]):
            continue
        if key in PATHS or key.startswith("data.test."):
            value = os.path.basename(os.path.normpath(value))
        lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    return lines


def _limits(recipe: Recipe) -> str:
    lines = [
        "- Trained with predicate positions given; with predicted ones the scores are lower.",
        "- A word has one role per predicate at most; arguments are head words, not spans.",
        "- Senses of lemmas that training never showed are guessed from the pattern of others.",
        "- Text unlike the corpus (other genre, other spelling, other language) is labelled worse, "
        "and the scores above do not say by how much.",
    ]
    if recipe.model.embeddings.tags:
        lines.append("- Needs parts of speech in its input, in the tag set of the corpus.")
    return "\n".join(lines) + "\n"
