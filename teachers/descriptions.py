"""Encode the descriptions of PropBank's senses and roles: `python -m teachers.descriptions`.

A text is the mean of the last hidden states of its subwords. The vectors are centered and turned to
their principal axes, of which the first WIDTH are kept, and have a length of 4 on average.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from capsrl.errors import CapsrlError, ConfigError
from capsrl.frames.descriptions import DEFINITION, Descriptions
from capsrl.frames.index import FrameIndex, Roleset, unnumbered
from capsrl.frames.user import load_frames

LENGTH = 4.0  # of a vector, on average
BATCH = 256


def encode_descriptions(
    frames: FrameIndex, encoder: str | Path, *, width: int | None = None
) -> Descriptions:
    """Encode the definition of every roleset and the description of each of its roles.

    encoder  folder of a Hugging Face encoder
    width    of the vectors, default: that of the encoder
    """
    rows: dict[str, int] = {}  # text -> row
    named = {
        roleset.sense: {
            name: rows.setdefault(text, len(rows)) for name, text in _texts(roleset).items()
        }
        for roleset in frames
    }
    return Descriptions(_reduce(_encode(list(rows), encoder), width), named)


def _texts(roleset: Roleset) -> dict[str, str]:
    described = {role.name: role.description for role in roleset.roles if role.description}
    name = unnumbered(roleset.sense).replace("_", " ")
    whole = f"{name}: {roleset.definition or ''}; {', '.join(described.values())}"
    return {DEFINITION: whole, **described}


@torch.inference_mode()
def _encode(texts: Sequence[str], encoder: str | Path) -> NDArray[np.float32]:
    from transformers import AutoModel, AutoTokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = AutoModel.from_pretrained(encoder).float().to(device).eval()
    vectors = np.zeros((len(texts), model.config.hidden_size), np.float32)
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    for first in range(0, len(order), BATCH):
        numbers = order[first : first + BATCH]
        batch = tokenizer(
            [texts[number] for number in numbers],
            padding=True,
            truncation=True,
            max_length=128,
            return_tensors="pt",
        ).to(device)
        states = model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        vectors[numbers] = ((states * mask).sum(1) / mask.sum(1)).cpu().numpy()
    return vectors


def _reduce(vectors: NDArray[np.float32], width: int | None) -> NDArray[np.float32]:
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors - vectors.mean(0)
    if width is not None and width < vectors.shape[1]:
        _, axes = np.linalg.eigh(vectors.T @ vectors)  # the largest last
        vectors = vectors @ axes[:, : -width - 1 : -1]
    scaled: NDArray[np.float32] = vectors * (LENGTH / np.linalg.norm(vectors, axis=1).mean())
    return scaled


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        "python -m teachers.descriptions",
        description="Encode descriptions of roles, for data.descriptions of a recipe.",
    )
    parser.add_argument("frames", metavar="FRAMES", help="PropBank frame files, or an index")
    parser.add_argument("encoder", metavar="ENCODER", help="folder of a Hugging Face encoder")
    parser.add_argument("out", metavar="OUT", help="file to write")
    parser.add_argument("--width", type=int, default=64, help="of the vectors (default: 64)")
    given = parser.parse_args(arguments)
    try:
        if not (Path(given.encoder) / "config.json").is_file():
            raise ConfigError(f"{given.encoder}: no encoder here, its config.json is missing")
        frames = load_frames(given.frames)
    except CapsrlError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    found = encode_descriptions(frames, given.encoder, width=given.width)
    found.save(given.out)
    sys.stderr.write(f"{given.out}: {len(found.vectors):,} texts of {len(frames):,} rolesets\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
