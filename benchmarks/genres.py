"""Scores of a model by genre.

    python benchmarks/genres.py GOLD.conll09 GENRES.tsv [MODEL]

GENRES has a line for each sentence of GOLD; its last column is the genre.
"""

import sys
from collections import defaultdict

import capsrl
from capsrl.files.opening import read_lines
from capsrl.formats.formats import read_sentences
from capsrl.score import score


def main(path: str, genres: str, model: str = "en") -> None:
    """Print F1 and exact match of each genre, with predicates given and found."""
    labeler = capsrl.load(model)
    gold = list(read_sentences(path))
    members: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(read_lines(genres)):
        members[line.split("\t")[-1]].append(number)
    for source in ("marked", "found"):
        labeled = list(labeler.label_sentences(gold, predicates=source))
        for genre, numbers in sorted(members.items()):
            scores = score([gold[n] for n in numbers], [labeled[n] for n in numbers])
            found = f"{scores.labeled_f1:6.2f} {scores.exact_match:6.2f}"
            print(f"{source:7} {genre:12} {len(numbers):5} sentences {found}")


if __name__ == "__main__":
    main(*sys.argv[1:])
