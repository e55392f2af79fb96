"""Kill and disturb what writes files, at random moments; exits with 1 if anything is found.

save   a model over another one
label  `capsrl label -o` over another output
train  `capsrl train` into a new folder, which is resumed
bulk   `capsrl bulk`: its workers, drivers or all of its processes (`torture.bulk_kills`)

After each time the old or the new output must be whole; the next run must end with the output of
one that was never disturbed, and leave nothing else behind. SEED and number make a run again, but
for the time at which processes are killed. Linux only.
"""

import contextlib
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import click

from torture.bulk_kills import kill_bulk
from torture.disturbing import KINDS, Disturbance, run_forked
from torture.target import Wrong

ROOT = Path(__file__).resolve().parent.parent
TEXTS = "Mira sold her bicycle.\nOmar gave up smoking.\nThe old court refused to hear them.\n"
_TRAINING = (  # a second or two, with a checkpoint every few steps
    *("train.epochs=4", "train.checkpoint_every=3", "model.encoder.width=8"),
    *("model.capsules.rank=8", "train.seed=5"),
)
_WITH_TIMES = ("log.jsonl", "README.md", "checkpoint.safetensors")  # how long it took is in them

Tree = dict[str, bytes]


@dataclass(frozen=True)
class Work:
    """Something that writes in the current folder, in a process of its own.

    before  writes the old output
    run     writes the new one, and exits
    check   raises Wrong unless what is there is whole, given the files of the old and the new one
    """

    before: Callable[[], object]
    run: Callable[[], object]
    check: Callable[[Tree, Tree], None]


def files_of(folder: Path) -> Tree:
    """All files of a folder, and its empty folders; without what differs in every run."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if not path.is_dir() or not any(path.iterdir())
    }


def without_times(tree: Tree) -> Tree:
    """The same with empty contents for files with times in them, and without logs of their own."""
    return {
        name: b"" if name.rpartition("/")[2] in _WITH_TIMES else content
        for name, content in tree.items()
        if "/tensorboard/" not in name
    }


def disturb(work: Work, count: int, source: Random) -> Counter[str]:
    """Disturb some work; counts what became of it. Raises Wrong at the first thing that is lost."""
    with tempfile.TemporaryDirectory(prefix="capsrl-kills-") as name:
        calm = _fresh(Path(name, "calm"), work)
        old = files_of(calm)
        start = time.monotonic()
        changes = run_forked(work.run, calm, None).changes
        seconds = time.monotonic() - start
        new = without_times(files_of(calm))
        outcomes: Counter[str] = Counter()
        for number in range(count):
            folder = _fresh(Path(name, str(number)), work)
            kind = source.choice(KINDS)
            disturbance = Disturbance(kind, source.random(), changes, seconds)
            ended = run_forked(work.run, folder, disturbance)
            try:
                with contextlib.chdir(folder):
                    work.check(old, new)
                run_forked(work.run, folder, None)
            except Wrong as error:
                raise Wrong(f"{number}, {kind}: {error}\n{ended.errors}") from None
            if (found := without_times(files_of(folder))) != new:
                names = [k for k in found.keys() | new.keys() if found.get(k) != new.get(k)]
                raise Wrong(f"{number}, {kind}: other files after the next run: {sorted(names)}")
            outcomes[f"{kind}: {ended.how}"] += 1
            shutil.rmtree(folder)
    return outcomes


def _fresh(folder: Path, work: Work) -> Path:
    folder.mkdir()
    run_forked(work.before, folder, None)
    return folder


def _old_or_new(name: str, old: Tree, new: Tree) -> None:
    """The output is that of before or of after, whatever lies beside it until the next run."""
    found, *whole = (
        {k: v for k, v in without_times(tree).items() if k.startswith(name)}
        for tree in (files_of(Path()), old, new)
    )
    if found not in whole:
        raise Wrong(f"neither the old nor the new output, but {sorted(found)}")


def _check_training(old: Tree, new: Tree) -> None:
    """A checkpoint and a model, if they are there, are whole."""
    from capsrl.errors import ModelError
    from capsrl.predict.manifest import find_damage
    from capsrl.train.checkpoint import load_checkpoint

    if (checkpoint := Path("out/checkpoint.safetensors")).exists():
        load_checkpoint(checkpoint)
    for model in Path().glob("out/model*"):
        damage: list[ModelError] = list(find_damage(model, thorough=True))
        if damage or not (model / "config.json").exists():
            raise Wrong(f"a model that is not whole: {damage}")


def _command(*arguments: str) -> None:
    from capsrl.cli import main

    sys.argv = ["capsrl", *arguments]
    main()


def _save(seed: int) -> None:
    from tests.helpers.tiny_networks import make_labeler

    make_labeler(seed=seed).save("out")


def _label() -> None:
    _command("label", "in.txt", "-o", "out.jsonl", "--device", "cpu", "--runtime", "onnx")


def _label_before() -> None:
    Path("in.txt").write_text(TEXTS, "utf-8")
    with contextlib.suppress(SystemExit):
        _label()
    Path("in.txt").write_text(TEXTS * 20, "utf-8")


def _train() -> None:
    # As if it were not installed: its thread prints a traceback for a log that it cannot write.
    sys.modules["torch.utils.tensorboard"] = None  # type: ignore[assignment]
    sets = [part for setting in _TRAINING for part in ("--set", setting)]
    recipe = str(ROOT / "recipes" / "tiny.toml")
    _command("train", recipe, "--out", "out", "--device", "cpu", *sets)


def works() -> dict[str, Work]:
    """What is disturbed in forked processes, by name."""
    import torch

    import capsrl.cli.label
    import capsrl.cli.train  # noqa: F401 - what is imported here is not imported again and again

    torch.set_num_threads(1)
    return {
        "save": Work(partial(_save, 1), partial(_save, 2), partial(_old_or_new, "out/")),
        "label": Work(_label_before, _label, partial(_old_or_new, "out.jsonl")),
        "train": Work(lambda: None, _train, _check_training),
    }


@click.command(help=__doc__)
@click.option("--count", default=100, help="Times that each of them is disturbed.")
@click.option("--seed", default=1)
@click.option("--only", multiple=True, type=click.Choice(["save", "label", "train", "bulk"]))
def main(count: int, seed: int, only: tuple[str, ...]) -> None:
    """Disturb them one after the other, and print what became of them."""
    wrong = False
    for name in only or ("save", "label", "train", "bulk"):
        source = Random(f"{seed}/{name}")
        try:
            if name == "bulk":
                outcomes = kill_bulk(count, source)
            else:
                outcomes = disturb(works()[name], count, source)
            click.echo(f"{name}: {outcomes.total()} times, all whole: {dict(outcomes)}")
        except Wrong as error:
            wrong = True
            click.echo(f"{name}: seed {seed}: {error}")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
