"""`capsrl frames FOLDER`: make an index of PropBank frame files."""

import sys

from capsrl.cli.options import argument, command, option
from capsrl.frames.user import user_index
from capsrl.frames.xml import read_frames


@command(
    {
        "Arguments": [argument("folder", "FOLDER", "PropBank frame files (*.xml).")],
        "Options": [
            option(
                "-o, --output FILE", "File to write (default: in your data folder, for all models)."
            ),
            option("--facts", "Leave out definitions and descriptions of roles."),
            option("--source TEXT", "Origin and license of the files, for the index."),
        ],
    }
)
def frames_command(folder: str, *, output: str | None, facts: bool, source: str | None) -> None:
    """Make an index of PropBank frame files.

    With the index in your data folder, all that capsrl labels from then on says what senses and
    roles mean in PropBank's words: "seller" and "thing sold" instead of Agent and Theme. The
    English files are the folder `frames` of https://github.com/propbank/propbank-frames.
    """
    index = read_frames(folder, comments=[f"source: {source or folder}"])
    file = user_index() if output is None else output
    index.save(file, facts=facts)
    counts = {"sense": len(index), "role": sum(len(roleset.roles) for roleset in index)}
    parts = [f"{n:,} {name}{'' if n == 1 else 's'}" for name, n in counts.items()]
    sys.stderr.write(f"{file}: {', '.join(parts)}\n")
