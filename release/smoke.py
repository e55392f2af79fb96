"""Try a capsrl that was installed into an empty environment: `ENVIRONMENT/bin/python smoke.py`.

Needs nothing but the standard library and that capsrl. Labels a sentence in Python and on the
command line, and checks that no extra is installed and that all of site-packages is small enough.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import Distribution, distributions, version
from importlib.util import find_spec
from pathlib import Path

TEXT = "Mira sold her bicycle to a neighbour."
WANTED = [("sell.01", [("A0", "Mira"), ("A1", "her bicycle"), ("A2", "to a neighbour")])]
EXTRAS = ("torch", "transformers", "tokenizers", "safetensors", "onnx", "spacy", "fastapi")
# What `python -m venv` puts into an empty environment: with Python 3.12 and newer pip only.
INSTALLERS = ("pip", "setuptools")
MAX_BYTES = 260_000_000
CODE = """
import sys

def refuse(event, arguments):
    if event.startswith("socket."):
        raise OSError(f"labeling uses the network: {event} {arguments}")

sys.addaudithook(refuse)
import capsrl
[sentence] = capsrl.load().label(sys.argv[1])
print(sentence.to_json())
print(*sys.modules)
"""


def main() -> None:
    """Run every check; the first that fails ends the run."""
    site = Path(sysconfig.get_path("purelib"))
    present = [name for name in EXTRAS if find_spec(name)]
    check(present == [], f"expected none of the extras to be installed, got {present}")
    with tempfile.TemporaryDirectory() as folder:  # no clone around, no files of the user
        os.chdir(folder)
        os.environ["XDG_DATA_HOME"] = folder
        check_commands()
        check_python()
    check_size(site)


def check_commands() -> None:
    """Ask the command line for its version and help, and for the propositions of a sentence."""
    printed = run("capsrl", "--version")
    check(printed == f"capsrl {version('capsrl')}\n", f"expected the version, got {printed}")
    printed = run("capsrl", "label", "--help")
    check("--trace" in printed, f"expected the options of label, got {printed}")
    table = run("capsrl", "label", TEXT)
    check("sell.01" in table and "a neighbour" in table, f"expected a table, got {table}")
    check_propositions(run("capsrl", "label", TEXT, "--to", "jsonl"))


def check_python() -> None:
    """Label in Python, without the network; torch and the other extras must not be imported."""
    printed, modules = run("python", "-c", CODE, TEXT).splitlines()
    check_propositions(printed)
    imported = set(modules.split()).intersection(EXTRAS)
    check(not imported, f"expected no extra to be imported, got {sorted(imported)}")


def check_propositions(line: str) -> None:
    """Compare one sentence of JSON with what is expected of it."""
    propositions = json.loads(line)["propositions"]
    got = [
        (each["sense"], [(a["role"], a["phrase"]["text"]) for a in each["arguments"]])
        for each in propositions
    ]
    check(got == WANTED, f"{TEXT}: expected {WANTED}, got {got}")


def check_size(site: Path) -> None:
    """Print how much is installed, in bytes of files, and compare all of it with the limit."""
    sizes = {each.name: size_of(each) for each in distributions(path=[str(site)])}
    total = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    ours = total - sum(sizes.get(name, 0) for name in INSTALLERS)
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
    print(f"{site}: {total / 1e6:.0f} MB in {len(sizes)} packages, {ours / 1e6:.0f} without pip")
    print("the largest: " + ", ".join(f"{name} {size / 1e6:.0f}" for name, size in largest))
    check(total <= MAX_BYTES, f"expected at most {MAX_BYTES / 1e6:.0f} MB, got {total / 1e6:.0f}")


def size_of(package: Distribution) -> int:
    """Bytes in the files that a package installed, compiled ones included."""
    paths = (Path(str(package.locate_file(file))) for file in package.files or [])
    return sum(path.stat().st_size for path in paths if path.is_file())


def run(program: str, *arguments: str) -> str:
    """What a program of this environment prints."""
    command = [str(Path(sys.executable).parent / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    check(done.returncode == 0, f"{command}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def check(fact: bool, message: str) -> None:
    """Exit with a message unless something is so."""
    if not fact:
        sys.exit(f"error: {message}")


if __name__ == "__main__":
    main()
