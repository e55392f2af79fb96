"""The names of the files of weights in a model folder, and of what is in them."""

from pathlib import Path

from capsrl.errors import ModelError

SCALE = "#scale"  # after the name of a quantized matrix: the scales of its rows


def weight_files(folder: Path) -> list[Path]:
    """All shards in order; raises ModelError naming one that is missing."""
    digits = "[0-9]" * 5
    files = sorted(folder.glob(f"weights-{digits}-of-{digits}.safetensors"))
    if not files:
        raise ModelError(f"{folder}: expected weights-*.safetensors, got no such file")
    count = int(files[-1].stem.rpartition("-of-")[2])
    expected = [folder / shard_name(number, count) for number in range(1, count + 1)]
    missing = [file.name for file in expected if file not in files]
    if missing:
        raise ModelError(f"{folder}: expected {missing[0]}, got no such file")
    extra = [file.name for file in files if file not in expected]
    if extra:
        raise ModelError(f"{folder}: expected {count} files of weights, got {extra[0]} beside them")
    return files


def shard_name(number: int, count: int) -> str:
    """The name of a file of weights, numbered from 1."""
    return f"weights-{number:05}-of-{count:05}.safetensors"
