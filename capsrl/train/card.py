"""Write the model card: the README.md of a model folder."""

import json
import os
from collections.abc import Mapping, Sequence

from capsrl import __version__
from capsrl.config import Recipe
from capsrl.recipe import DEFAULTS, settings_by_name
from capsrl.score import Scores


def make_card(
    recipe: Recipe,
    *,
    dev: Scores,
    tests: Mapping[str, Scores],
    n_sentences: int,
    n_partial: int = 0,
    started_from: str | None = None,
    intermediate: Sequence[Scores] = (),
) -> str:
    """Make the card as Markdown, with the YAML front matter that model hubs read.

    dev, tests     scores of the model
    n_sentences    in `data.train`
    n_partial      in the files of `data.partial`
    started_from   name and digest of the model of `train.from`
    intermediate   scores on dev after 1, 2, ... iterations, up to one less than in training
    """
    data = recipe.data
    name = data.name or os.path.basename(data.train)
    has_phrases = recipe.model.phrase_width > 0
    form = "Arguments are head words, not phrases"
    if has_phrases:
        form = "The phrase of an argument is unbroken"
    sources = [
        f"corpus: {name}",
        f"license of the corpus: {data.license or 'not stated in the recipe'}",
        f"trained on {n_sentences} sentences of `{os.path.basename(data.train)}`, "
        f"best epoch by F1 on `{os.path.basename(data.dev)}`",
    ]
    if data.partial:
        files = ", ".join(f"`{os.path.basename(path)}`" for path in data.partial)
        sources.append(f"also trained on {n_partial} partially annotated sentences of {files}")
    if started_from is not None:
        sources.append(
            f"started from the model {started_from}, which was trained on the data that its own "
            "card names; the license of that model applies too"
        )
    limits = [
        "The scores above are for gold predicates; with predicates found by the model they are "
        "lower.",
        f"{form}; a word is the head of at most one argument per predicate.",
        "Senses that are not in the training data are often wrong. Without frames, those of "
        "lemmas that are not in it are guessed from those of others.",
        "Text unlike the corpus (another genre, spelling or language) is labeled worse.",
    ]
    if recipe.model.embeddings.tags:
        limits.append("Needs parts of speech in its input, in the tag set of the corpus.")
    parts = [
        _front_matter(recipe),
        f"# Semantic role labeling, {data.language or 'language not stated'}: {name}\n",
        "Finds who did what to whom: the sense of every predicate and the head words of its "
        "arguments with their roles (dependency SRL as in CoNLL-2009)"
        f"{', and their phrases' if has_phrases else ''}.\n",
        "## Use\n",
        '```\ncapsrl label --model MODEL_FOLDER "She sold him the car."\n'
        "capsrl evaluate --model MODEL_FOLDER GOLD_FILE\n```\n",
        "## Data\n",
        "".join(f"- {line}\n" for line in sources),
        "## Scores\n",
        "With gold predicates. Precision, recall and F1 are the official CoNLL-2009 scores over "
        "senses and arguments together; EM (exact match) is the percentage of propositions with "
        "the right sense and the right arguments.\n",
        _score_table(dev, intermediate, tests),
        "## Recipe\n",
        f"capsrl {__version__}, seed {recipe.train.seed}; settings other than the defaults:\n",
        "```toml\n" + "".join(f"{line}\n" for line in _changes(recipe)) + "```\n",
        "## Limits\n",
        "".join(f"- {line}\n" for line in limits),
    ]
    return "\n".join(parts)


def _front_matter(recipe: Recipe) -> str:
    lines = ["---"]
    if recipe.data.language:
        lines.append(f"language: {recipe.data.language}")
    if recipe.data.license:
        # Hubs know a fixed list of licenses; any other name needs `license: other`.
        lines += ["license: other", f"license_name: {json.dumps(recipe.data.license)}"]
    return "\n".join([*lines, "library_name: capsrl", "tags: [semantic-role-labeling]", "---\n"])


def _score_table(dev: Scores, intermediate: Sequence[Scores], tests: Mapping[str, Scores]) -> str:
    rows = ["| file | precision | recall | F1 | EM | propositions |", "|---|--:|--:|--:|--:|--:|"]
    named = [
        (f"dev, after {n} of {len(intermediate) + 1} iterations", scores)
        for n, scores in enumerate(intermediate, start=1)
    ]
    for name, scores in [*named, ("dev", dev), *tests.items()]:
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
    """List the settings that differ from their defaults as TOML lines, files by name only."""
    return [
        f"{key} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in settings_by_name(recipe).items()
        if key not in DEFAULTS or value != DEFAULTS[key]
    ]
