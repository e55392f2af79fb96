"""Write the chosen sentences of each source, and a README with counts, commits and licenses."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from capsrl.files.opening import open_writer
from corpora.held_out import HeldOut
from corpora.text.checkout import read_files
from corpora.text.choosing import Words, choose, limit_alike, sample
from corpora.text.sources import Part, Source

README = "README.md"
_SUFFIX = ".jsonl.xz"


@dataclass(slots=True)
class Made:
    """A file that was written, and what it has."""

    source: Source
    path: Path
    sentences: Counter[tuple[str, str]] = field(default_factory=Counter)  # by repository and kind
    left_out: Counter[str] = field(default_factory=Counter)


def make_source(
    source: Source, out: Path, *, checkouts: Path, commits: Mapping[str, str], held_out: HeldOut
) -> Made:
    """Write the sentences of a source as JSON lines with "source" and "words"."""
    made = Made(source, out / f"{source.name}{_SUFFIX}")
    seen: set[str] = set()
    with open_writer(made.path) as file:
        for part in source.parts:
            kinds: dict[Words, str] = {}
            for match, text in read_files(
                checkouts, part.repository, commits[part.repository], part.paths
            ):
                kind = match.groupdict().get("kind") or part.kind
                chosen = choose(
                    part.read(text),
                    check=part.check,
                    seen=seen,
                    held_out=held_out,
                    left_out=made.left_out,
                )
                kinds.update(dict.fromkeys(chosen, kind))
            kept = _limit(list(kinds), part)
            made.left_out["sentences beyond a limit"] += len(kinds) - len(kept)
            for words in kept:
                made.sentences[part.repository, kinds[words]] += 1
                name = "-".join(filter(None, (source.name, kinds[words])))
                file.write(json.dumps({"source": name, "words": words}, ensure_ascii=False) + "\n")
    return made


def _limit(sentences: Sequence[Words], part: Part) -> Sequence[Words]:
    if part.most_alike is not None:
        sentences = list(limit_alike(sentences, part.most_alike))
    return sentences if part.most is None else sample(sentences, part.most)


def write_readme(
    out: Path, made: Iterable[Made], *, commits: Mapping[str, str], without: Sequence[str]
) -> None:
    """Describe the files that were made.

    without  the names of the files whose sentences were left out
    """
    lines = [
        "# Unlabeled English text",
        "",
        'Made by `python -m corpora text`: one JSON object with "source" and "words" per line.',
        f"Sentences that overlap {', '.join(without) or 'no files'} were left out.",
    ]
    for each in made:
        source = each.source
        lines += [
            "",
            f"## {each.path.name}: {each.sentences.total():,} sentences",
            "",
            f"- Contents: {source.contents}",
            f"- License: {source.license}",
            f"- Cite: {source.cite}",
            *(f"- Left out: {n:,} {reason}" for reason, n in sorted(each.left_out.items()) if n),
            "",
            "| repository | commit | kind | sentences |",
            "|---|---|---|--:|",
        ]
        for (repository, kind), n in each.sentences.items():
            lines.append(f"| {repository} | {commits[repository][:12]} | {kind} | {n:,} |")
    with open_writer(out / README) as file:
        file.writelines(f"{line}\n" for line in lines)
