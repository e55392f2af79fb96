"""`capsrl train RECIPE`: from a recipe to a model folder."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from capsrl.train.loop import Result


def train_command(
    recipe: Annotated[str, typer.Argument(help="A recipe, such as recipes/tiny.toml.")],
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run; runs/NAME after the recipe if not given."),
    ] = None,
    set_values: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a key of the recipe, such as train.epochs=10; repeatable.",
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1; the GPU if there is one.")
    ] = None,
) -> None:
    """Train a model; the best by dev F1 lies in OUT/model.

    The same command again goes on where a run was stopped or killed. On several GPUs:
    accelerate launch -m capsrl train RECIPE --out OUT
    """
    from capsrl.cli.train_progress import watching
    from capsrl.recipe import read_recipe
    from capsrl.train.loop import run
    from capsrl.train.signals import Interrupted

    checked = read_recipe(recipe, set_values or ())
    folder = out or Path("runs") / Path(recipe).stem
    try:
        with watching(checked.train.epochs) as report:
            result = run(checked, folder, device=device, report=report)
    except Interrupted as stopped:
        sys.stderr.write(f"{stopped}: {_command()}\n")
        sys.exit(130)
    if result.dev is not None:
        _print_result(result)


def _command() -> str:
    import shlex

    return shlex.join(["capsrl", *sys.argv[1:]])


def _print_result(result: "Result") -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("file", no_wrap=True)
    for header in ("precision", "recall", "F1", "EM", "propositions"):
        table.add_column(header, justify="right", no_wrap=True)
    for name, scores in [("dev", result.dev), *(result.tests or {}).items()]:
        assert scores is not None, "the main process has scores"
        figures = (scores.labeled_precision, scores.labeled_recall, scores.labeled_f1)
        cells = [f"{figure:.2f}" for figure in (*figures, scores.exact_match)]
        table.add_row(name, *cells, str(scores.official.gold_predicates))
    console.print(table)
    console.print(
        f"{result.model}: epoch {result.best_epoch}, after {result.seconds:.1f} s of training",
        soft_wrap=True,
    )
