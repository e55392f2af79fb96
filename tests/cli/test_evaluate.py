"""`capsrl evaluate` and `capsrl predict` on a network that has learned nothing."""

import json
import sys
from pathlib import Path

import pytest

from capsrl.cli import main
from capsrl.data.formats import read_sentences
from tests.helpers.tiny_networks import make_config, make_labeler

TINY = str(Path(__file__).parent.parent / "fixtures" / "tiny.conll09")


@pytest.fixture
def capsrl(monkeypatch, capsys, tmp_path):
    """Run the command line as a user does: arguments in, (exit code, stdout, stderr) out."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["capsrl", *arguments, "--device", "cpu"])
        with pytest.raises(SystemExit) as exit:
            main()
        out, err = capsys.readouterr()
        return exit.value.code or 0, out, err

    return run


@pytest.mark.parametrize("options", [(), ("--iterations", "4"), ("--predicates", "predicted")])
def test_evaluate_is_predict_and_score(capsrl, options):
    make_labeler().save(Path("model"))
    code, out, err = capsrl("evaluate", "model", TINY, "--json", *options)
    assert (code, err) == (0, "")
    assert capsrl("predict", "model", TINY, "-o", "out.jsonl", *options) == (
        0,
        "",
        "14 sentences\n",
    )
    labelled = list(read_sentences("out.jsonl"))
    counts = json.loads(out)["official"]["counts"]
    assert counts["pred_predicates"] == sum(len(s.propositions) for s in labelled) > 0
    assert counts["pred_arguments"] == sum(
        len(p.arguments) for s in labelled for p in s.propositions
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "nowhere", TINY), "nowhere: expected a model folder, or the name of a model"),
        (("predict", "model", "none.conll09"), "none.conll09: cannot be read: No such file"),
        (("predict", "model", TINY, "-o", "out.conllu"), "out.conllu: expected a format that can"),
        (
            ("predict", "model", TINY, "--predicates", "some"),
            "--predicates: expected given or predicted, got some",
        ),
        (("evaluate", "model", "empty.conll09"), "empty.conll09: expected sentences to score, got"),
    ],
)
def test_mistakes_are_told_in_one_line(capsrl, arguments, message):
    make_labeler().save(Path("model"))
    Path("empty.conll09").write_text("")
    code, out, err = capsrl(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {message}")


@pytest.mark.filterwarnings("default::UserWarning")
def test_our_warnings_are_one_line(capsrl):
    vectors = Path("some.vec")
    vectors.write_text("2 3\nthe 1 2 3\ncat 4 5 6\n")
    config = make_config(embeddings={"fasttext": str(vectors)})
    make_labeler(config).save(Path("model"))
    vectors.unlink()
    code, _, err = capsrl("evaluate", "model", TINY)
    assert code == 0
    assert err.startswith("warning: some.vec: expected the vectors the model was trained with, got")
    assert err.count("\n") == 1
