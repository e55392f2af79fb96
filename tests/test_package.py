"""What an installed capsrl is: light to import, documented, complete as a wheel."""

import inspect
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import capsrl
from capsrl.cli import _COMMANDS, EXTRAS
from release.contents import SDIST, check_sdist, check_wheel, package_files

ROOT = Path(__file__).resolve().parent.parent
HEAVY = [
    "torch",
    "transformers",
    "tokenizers",
    "matplotlib",
    "spacy",
    "h5py",
    "tensorboard",
    "safetensors",
]


def loaded_by(code: str) -> set[str]:
    """The top-level packages in a new Python after it has run some code."""
    report = "import sys; print('LOADED', *{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


def run(*arguments: object, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    command = [sys.executable, "-m", "capsrl", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": str(columns)}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_importing_is_light():
    loaded = loaded_by("import capsrl")
    assert "capsrl" in loaded
    servers = ["http", "socketserver", "uvicorn", "starlette"]
    assert loaded & {*HEAVY, *servers, "rich", "click", "numpy"} == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        *([command, "--help"] for command in _COMMANDS),
        ["stats", "recipes/tiny/dev.conll09"],
        ["score", "recipes/tiny/dev.conll09", "recipes/tiny/dev.conll09"],
        ["convert", "recipes/tiny/dev.conll09", "-", "--to", "jsonl"],
    ],
    ids=" ".join,
)
def test_commands_without_a_model_are_light(arguments):
    paths = [str(ROOT / each) if "/" in each else each for each in arguments]
    code = (
        "import capsrl.cli\n"
        f"try:\n    capsrl.cli.app({paths!r})\nexcept SystemExit as end:\n    assert not end.code"
    )
    loaded = loaded_by(code)
    assert "click" in loaded
    assert loaded & set(HEAVY) == set()


def test_labeling_a_sentence_is_light():
    arguments = ["label", "Hiti signed the letter.", "--runtime", "onnx", "--device", "cpu"]
    loaded = loaded_by(f"import capsrl.cli; capsrl.cli.app({arguments}, standalone_mode=False)")
    assert "onnxruntime" in loaded
    assert loaded & {*HEAVY, "concurrent"} == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["label", "Hiti signed.", "--runtime", "torch"],
        ["evaluate", "recipes/tiny/dev.conll09", "--runtime", "torch"],
        ["train", "recipes/tiny.toml", "--out", "never"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_with_a_model_say_what_they_need(arguments, tmp_path):
    paths = [str(ROOT / each) if "/" in each else each for each in arguments]
    code = (
        f"import sys; sys.modules['torch'] = None; sys.argv = ['capsrl', *{paths!r}]\n"
        "from capsrl.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert re.fullmatch(
        r"error: (this command|en:) needs torch: pip install 'capsrl\[model\]' "
        r"\(from a clone: pip install '\.\[model\]'\)\n",
        done.stderr,
    )
    assert done.returncode == 2


@pytest.mark.parametrize("extra", ["model", "export", "search", "serve"])
def test_packages_that_may_be_missing_are_those_of_their_extra(extra):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {each.split(">")[0] for each in project["optional-dependencies"][extra]}
    packages = {"markdown_it": "markdown-it-py"}  # others have the names of their modules
    modules = [name for name, each in EXTRAS.items() if each == extra]
    known = {packages.get(name, name.replace("_", "-")) for name in modules}
    assert {each for each in wanted if "[" not in each} == known


def test_the_version_is_one_and_the_same():
    assert run("--version").stdout == f"capsrl {capsrl.__version__}\n"
    assert version("capsrl") == capsrl.__version__
    assert f"## {capsrl.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_no_arguments_give_the_help_with_every_command():
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    assert "who did what to whom" in done.stdout
    for command, (_, help) in _COMMANDS.items():
        assert re.search(rf"\b{command} +{help[:20]}", done.stdout), command
    assert run("--help").stdout == done.stdout


def test_no_command_imports_another():
    """Nor anything that only another one needs; two of them do more than the other."""
    others = {"evaluate": "score", "calibrate": "export"}
    for command in _COMMANDS:
        code = f"import sys, capsrl.cli.{command}; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        loaded = {name.removeprefix("capsrl.cli.") for name in done.stdout.split()}
        assert (loaded & _COMMANDS.keys()) - {others.get(command)} == {command}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lable"], "unknown command lable; did you mean label?"),
        (["xyz"], "unknown command xyz"),
        (["--verion"], "unknown option --verion; did you mean --version?"),
        (
            ["label", "--treshold", "1", "x y"],
            "unknown option --treshold; did you mean --threshold?",
        ),
        (
            ["label", "x y", "--threshold", "3"],
            "--threshold: expected a number from 0 to 1, got 3.0",
        ),
        (["stats", "--top", "x", "y"], "--top: expected an integer of at least 0, got x"),
        (["stats", "a", "--from"], "--from: requires an argument"),
        (["stats", "a", "--json=1"], "--json: does not take a value"),
        (["label", "--no-phrase", "x y"], "unknown option --no-phrase; did you mean --no-phrases?"),
        (["stats", "-x", "a"], "unknown option -x"),
        (
            ["bulk", "a.txt", "-o", "out"],
            "unknown option -o; the output folder is the last argument: capsrl bulk IN... OUT",
        ),
        (["score"], "missing argument 'GOLD'; see capsrl score --help"),
        (["export", "a", "b\nc"], "got unexpected extra argument (b c); see capsrl export --help"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_mistakes_in_the_command_line_are_told_in_one_line(arguments, message):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.replace("python -m capsrl", "capsrl") == f"error: {message}\n"


@pytest.mark.parametrize("columns", [20, 60, 200])
def test_the_help_on_other_terminals(columns):
    done = run("label", "--help", columns=columns)
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= max(columns, 80)


@pytest.mark.parametrize(
    "arguments", ["--help", "train --keys", f"stats --json {ROOT}/recipes/tiny/dev.conll09"]
)
def test_standard_output_that_is_closed(arguments):
    command = f"{sys.executable} -m capsrl {arguments} >&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_pipe_that_is_closed_early(tmp_path):
    corpus = (ROOT / "recipes/tiny/train.conll09").read_text(encoding="utf-8").strip() + "\n\n"
    (tmp_path / "big.conll09").write_text(corpus * 40, encoding="utf-8")
    command = [sys.executable, "-m", "capsrl", "convert", tmp_path / "big.conll09", "-"]
    with subprocess.Popen(
        [*command, "--to", "jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline().startswith(b"{")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_table_for_a_pipe_that_is_closed():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "capsrl", "frames", "take"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_public_names_are_there_and_documented():
    for name in capsrl.__all__:
        thing = getattr(capsrl, name)
        assert thing.__doc__ and thing.__doc__.strip(), name
        if inspect.isclass(thing):
            methods = [each for each in vars(thing).items() if each[0][0] != "_"]
            public = [(key, each) for key, each in methods if callable(each)]
            assert [key for key, each in public if not each.__doc__] == [], name


def build(root: Path, folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of a clone, without the isolation of `make wheel`."""
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_wheel_and_sdist_are_complete(tmp_path):
    """`make wheel` builds the wheel from the sdist."""
    wheel, sdist = build(ROOT, tmp_path)
    package = package_files(ROOT)
    assert {"capsrl/py.typed", "capsrl/formats/schema.json", "capsrl/models/en/config.json"} <= set(
        package
    )
    assert check_wheel(wheel, package) + check_sdist(sdist, package) == []


@pytest.mark.slow
def test_two_builds_give_the_same_bytes(tmp_path):
    """Neither the place of the clone nor times and permissions of its files matter."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    for name in listed.stdout.decode().split("\0"):
        if name.startswith(("capsrl/", *SDIST)) and (ROOT / name).exists():
            copy = tmp_path / "clone" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes((ROOT / name).read_bytes())
            copy.chmod(0o600)
            os.utime(copy, (1, 1))
    first, second = build(ROOT, tmp_path / "one"), build(tmp_path / "clone", tmp_path / "two")
    for one, two in zip(first, second, strict=True):
        assert one.name == two.name
        assert one.read_bytes() == two.read_bytes()
