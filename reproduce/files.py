"""The files that runs need: find those that are missing, and cut training files to a size."""

import functools
import hashlib
import itertools
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from capsrl.config import Recipe
from capsrl.errors import ConfigError
from capsrl.files.opening import open_writer, read_lines
from capsrl.recipe import recipe_paths

# What a folder must contain, by setting: glob patterns.
CONTENTS = {
    "model.embeddings.elmo": ("*options.json", "*weights.hdf5"),
    "model.embeddings.transformer": ("config.json", "tokenizer.json"),
}


def missing_files(needed: Iterable[tuple[str, Recipe]]) -> list[str]:
    """All corpora, encoders and vectors that recipes name and that are not there, each once.

    needed  recipes, each with the name of its corpus
    -> lines of a message; none if everything is there
    """
    found: dict[str, dict[str, None]] = {}
    for name, recipe in needed:
        for problem in _problems(recipe):
            found.setdefault(problem, {})[name] = None
    if not found:
        return []
    lines = [f"{problem} (for {', '.join(names)})" for problem, names in found.items()]
    return [
        f"{len(lines)} missing; docs/corpora.md and docs/paper.md say where to get them",
        *lines,
    ]


def _problems(recipe: Recipe) -> Iterator[str]:
    paths = recipe_paths(recipe)
    for key, path in paths.items():
        wanted = CONTENTS.get(key, ())
        if not Path(path).exists():
            yield f"{path}: no such {'folder' if wanted else 'file'}"
        elif lacking := [each for each in wanted if not any(Path(path).glob(each))]:
            yield f"{path}: expected {' and '.join(lacking)} in it, got none"
    package = recipe.model.embeddings.transformer
    if package and "model.embeddings.transformer" not in paths and not find_spec(package):
        yield f"{package}: no such folder or installed package"


@functools.cache
def cut_corpus(path: Path, sentences: int, folder: Path) -> Path:
    """Write this many sentences of a corpus to a file of the folder, in their order.

    Chosen by digest: spread over the whole corpus, the same everywhere, and a smaller choice is
    part of a larger one.
    """
    lines = itertools.groupby(read_lines(path), key=bool)
    blocks = ["\n".join(group) + "\n\n" for is_block, group in lines if is_block]
    if len(blocks) < sentences:
        raise ConfigError(f"{path}: expected at least {sentences} sentences, got {len(blocks)}")
    order = sorted(
        range(len(blocks)), key=lambda i: (hashlib.sha256(blocks[i].encode()).digest(), i)
    )
    cut = folder / f"{path.parent.name}-{sentences}.conll09"
    folder.mkdir(parents=True, exist_ok=True)
    with open_writer(cut) as file:
        file.writelines(blocks[i] for i in sorted(order[:sentences]))
    return cut
