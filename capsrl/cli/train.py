"""`capsrl train RECIPE`: train a model; `capsrl train --keys`: list all settings."""

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from capsrl.cli.options import DEVICE, argument, command, option
from capsrl.cli.progress import training_progress
from capsrl.config import DataConfig, EmbeddingsConfig, Recipe
from capsrl.errors import ConfigError
from capsrl.recipe import SETTINGS, read_recipe
from capsrl.settings import COSMETIC, REQUIRED, Setting, describe_type

if TYPE_CHECKING:
    from capsrl.train.loop import TrainingResult


@command(
    {
        "Arguments": [argument("recipe", "[RECIPE]", "A recipe, such as recipes/tiny.toml.")],
        "Options": [
            option("--out FOLDER", "Folder of the run (default: runs/NAME of the recipe)."),
            option(
                "--set KEY=VALUE",
                "Change a setting, such as train.epochs=10; repeatable.",
                name="set_values",
                multiple=True,
            ),
            DEVICE,
            option("--keys", "List every key of a recipe and exit."),
        ],
    }
)
def train_command(
    recipe: str | None,
    *,
    out: str | None,
    set_values: Sequence[str],
    device: str | None,
    keys: bool,
) -> None:
    """Train a model; the best one by dev F1 is saved in OUT/model.

    The same command resumes a run that was stopped or killed. On several GPUs:

    torchrun --nproc-per-node N -m capsrl train RECIPE --out OUT
    """
    if keys:
        _print_keys()
        return
    if recipe is None:
        raise ConfigError("missing RECIPE, such as recipes/tiny.toml")
    from capsrl.train.loop import Interrupted, run  # here, so that --help and --keys need no torch

    checked = read_recipe(recipe, set_values)
    folder = Path(out) if out else Path("runs") / Path(recipe).stem
    try:
        with training_progress(checked.train.epochs) as report:
            result = run(checked, folder, device=device, report=report)
    except Interrupted as stopped:
        sys.stderr.write(f"{stopped}: {shlex.join(['capsrl', *sys.argv[1:]])}\n")
        sys.exit(130)
    if result.dev is not None:
        _print_result(result)
        for line in next_commands(result.model, checked):
            sys.stderr.write(f"{line}\n")
    for note in result.notes:
        sys.stderr.write(f"warning: {note}\n")


def _print_result(result: "TrainingResult") -> None:
    console = Console(highlight=False, markup=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("file", no_wrap=True)
    for header in ("precision", "recall", "F1", "arguments", "EM", "propositions"):
        table.add_column(header, justify="right", no_wrap=True)
    for name, scores in [("dev", result.dev), *(result.tests or {}).items()]:
        assert scores is not None, "the main process has scores"
        labeled = (scores.labeled_precision, scores.labeled_recall, scores.labeled_f1)
        figures = (*labeled, scores.counts.arguments.f1, scores.exact_match)
        cells = [f"{figure:.2f}" for figure in figures]
        table.add_row(name, *cells, str(scores.official.gold_predicates))
    console.print(table)
    console.print(
        f"{result.model}: epoch {result.best_epoch}, after {result.seconds:.1f} s of training",
        soft_wrap=True,
    )


def next_commands(model: Path, recipe: Recipe) -> Iterator[str]:
    """Lines that say what can be done with a model that has been trained."""
    folder, file = shlex.quote(str(model)), shlex.quote(_held_out(recipe.data))
    commands = {f"capsrl calibrate {folder} {file}": "make its probabilities mean what they say"}
    if _may_export(recipe.model.embeddings):
        commands[f"capsrl export {folder}"] = "label on the CPU without torch"
    evaluate = f"capsrl evaluate {file} --model {folder} --errors errors.html"
    commands[evaluate] = "see its mistakes"
    commands[f'capsrl label --model {folder} "..."'] = "label text"
    width = max(map(len, commands))
    yield "next:"
    for line, purpose in commands.items():
        yield f"  {line:{width}}  # {purpose}"


def _held_out(data: DataConfig) -> str:
    """The dev file; the first test file if the model has been trained on the dev file."""
    return next(iter(data.test.values()), data.dev) if data.dev == data.train else data.dev


def _may_export(embeddings: EmbeddingsConfig) -> bool:
    """Whether there are graphs for the word vectors of a model; its encoder must be like BERT."""
    others = ("elmo", "fasttext", "learned", "characters", "tags", "mark_predicate")
    return embeddings.transformer is not None and not any(
        getattr(embeddings, name) for name in others
    )


def _print_keys() -> None:
    text = "\n".join(key_table(SETTINGS.values()))
    console = Console()
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        click.echo(text)


def key_table(settings: Iterable[Setting]) -> Iterator[str]:
    """Describe settings as the lines of a Markdown table."""
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    for setting in settings:
        meaning = setting.meaning
        if COSMETIC in setting.marks:
            meaning += " (may differ when a run is resumed)"
        yield f"| `{setting.key}` | {_values(setting)} | {_default(setting)} | {meaning} |"


def _values(setting: Setting) -> str:
    kind = describe_type(setting.type)
    if setting.is_path:
        several = {"a table": "a table of paths", "a list of strings": "a list of paths"}
        kind = several.get(kind, "a path")
    return kind if setting.range is None else f"{kind}, {setting.range.text}"


def _default(setting: Setting) -> str:
    if setting.default is REQUIRED:
        return "required"
    return (
        f"`{json.dumps(setting.default)}`" if setting.default not in (None, "", {}, []) else "none"
    )
