"""Prepare texts for annotators: Label Studio tasks and a brat project, the doubtful ones first.

    python examples/preannotate.py [FOLDER]

Needs nothing but capsrl. docs/annotation.md says how the files come back.
"""

import sys
from pathlib import Path

import capsrl
from capsrl.formats.formats import write_sentences
from capsrl.formats.labelstudio import LABELING

TEXTS = [
    "Our neighbor fed the cats while we were away.",
    "The cats, fed twice a day by a neighbor with a sweet tooth, had gone off fish by June.",
    "She told him a story about a bear.",
]


def doubt(sentence: capsrl.Sentence) -> float:
    """One minus the probability of the least certain proposition; 0 without any."""
    sure = [each.joint_probability or 0.0 for each in sentence.propositions]
    return 1 - min(sure, default=1.0)


folder = Path(sys.argv[1] if len(sys.argv) > 1 else "annotate")
folder.mkdir(parents=True, exist_ok=True)
labeler = capsrl.load()
sentences = [sentence for text in TEXTS for sentence in labeler.label(text)]
sentences.sort(key=doubt, reverse=True)
write_sentences(sentences, folder / "tasks.json", "labelstudio")
write_sentences(sentences, folder / "texts.ann", "brat")
(folder / "labeling.xml").write_text(LABELING, encoding="utf-8")
for sentence in sentences:
    print(f"{doubt(sentence):.1f} {sentence.text}")
