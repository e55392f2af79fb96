"""`capsrl train RECIPE`: train a model; `capsrl train --keys`: list all settings."""

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from capsrl.cli.options import DEVICE, argument, command, option
from capsrl.config import DataConfig, EmbeddingsConfig, Recipe
from capsrl.errors import ConfigError
from capsrl.recipe import SETTINGS, read_recipe
from capsrl.settings import COSMETIC, REQUIRED, Setting, describe_type

if TYPE_CHECKING:
    from capsrl.train.log import Record, Report
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
        with show_epochs(checked.train.epochs) as report:
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


@contextmanager
def show_epochs(n_epochs: int) -> "Iterator[Report]":
    """Make the `report` of a run: progress bars on a terminal, else one line per epoch."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _write_epoch
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as bars:
        epochs = bars.add_task("epochs", total=n_epochs, note="")
        batches = bars.add_task("batches", total=None, note="")

        def report(record: "Record") -> None:
            if record["kind"] == "step":
                note = f"loss {record['loss']:.3f}, {record['words_per_second']:,} words/s"
                done, total = record["batch"], record["batches"]
                bars.update(batches, completed=done, total=total, note=note)
                bars.update(epochs, completed=record["epoch"] - 1 + done / total)
            elif record["kind"] == "epoch":
                note = f"{record['epoch']} of {n_epochs}"
                bars.update(epochs, completed=record["epoch"], note=note)
                bars.console.print(epoch_line(record))
            elif record["kind"] == "warning":
                bars.console.print(f"warning: {record['message']}", markup=False, soft_wrap=True)

        yield report


def epoch_line(record: "Record") -> str:
    """Format the record of an epoch as one line."""
    best = "  best" if record["best"] else ""
    return (
        f"epoch {record['epoch']:3}  loss {record['loss']:7.4f}  dev F1 {record['dev_f1']:6.2f}  "
        f"arguments {record['dev_argument_f1']:6.2f}  EM {record['dev_em']:6.2f}  "
        f"{record['seconds']:8.1f} s{best}"
    )


def _write_epoch(record: "Record") -> None:
    if record["kind"] == "epoch":
        sys.stderr.write(epoch_line(record) + "\n")
        sys.stderr.flush()
    elif record["kind"] == "warning":
        sys.stderr.write(f"warning: {record['message']}\n")


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
        sys.stdout.write(f"{text}\n")


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
