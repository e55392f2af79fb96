"""`capsrl evaluate` with a network that has learned nothing."""

import json
from pathlib import Path

import pytest

from capsrl.formats.formats import read_sentences, write_sentences
from capsrl.score import score
from capsrl.score.scorer import scores_to_dict
from capsrl.text.phrases import with_phrases
from tests.helpers.tiny_networks import make_config, make_labeler

TINY = Path(__file__).parent.parent / "fixtures" / "tiny.conll09"


@pytest.fixture
def evaluate(capsrl, tmp_path):
    make_labeler().save(tmp_path / "model")
    options = ("--model", "model", "--device", "cpu")
    return lambda *arguments, **others: capsrl("evaluate", *options, *arguments, **others)


@pytest.mark.parametrize(
    ("labeling", "scoring"),
    [
        ((), ()),
        (("--iterations", "4"), ("--mode", "primesrl", "--all", "--seed", "3")),
        (("--predicates", "found", "--threshold", "0.1"), ("--by", "role,pos", "--train", TINY)),
        ((), ("--compare", TINY)),
    ],
)
def test_it_is_label_and_score(evaluate, capsrl, labeling, scoring):
    done = capsrl("label", TINY, "--model", "model", "-o", "out.conll09", *labeling)
    assert (done.code, done.out) == (0, "")
    scored = json.loads(capsrl("score", TINY, "out.conll09", "--json", *scoring).out)
    done = evaluate(TINY, "--json", *labeling, *scoring)
    assert (done.code, done.err) == (0, "")
    evaluated = json.loads(done.out)
    assert evaluated.pop("pred") == "model"
    options = evaluated.pop("options")
    assert options["iterations"] == (4 if "--iterations" in labeling else None)
    assert evaluated == {key: value for key, value in scored.items() if key != "pred"}
    assert evaluated["official"]["counts"]["pred_predicates"] > 0


def test_tables(evaluate):
    assert evaluate(TINY).out.startswith(f"model against {TINY}: 14 sentences\n")
    assert (
        "By role" in evaluate("-", "--from", "conll09", "--by", "role", stdin=TINY.read_bytes()).out
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TINY, "--model", "nowhere"), "nowhere: not a model folder, nor the name of a model"),
        (("none.conll09",), "none.conll09: cannot be read: No such file"),
        (("gold.txt",), "gold.txt: expected a suffix of .conll09 .conll .conllu .conllup .jsonl "),
        (
            (TINY, "--predicates", "some"),
            "--predicates: expected auto, marked or found, got some",
        ),
        ((TINY, "--mode", "lax"), "--mode: expected official, strict or primesrl, got lax"),
        (("empty.conll09",), "empty.conll09: no sentences to score"),
        (
            (TINY, "--compare", "other.jsonl"),
            f"other.jsonl:1 against {TINY} (sentence 1): expected",
        ),
        (("-", "--compare", "-"), "-: standard input can be read for one file only"),
    ],
)
def test_mistakes_are_told_in_one_line(evaluate, tmp_path, arguments, message):
    (tmp_path / "empty.conll09").write_text("")
    (tmp_path / "other.jsonl").write_text('{"words": ["Go"]}')
    done = evaluate(*arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"error: {message}")


@pytest.mark.filterwarnings("default::UserWarning")
def test_our_warnings_are_one_line(evaluate, tmp_path):
    vectors = tmp_path / "some.vec"
    vectors.write_text("2 3\nthe 1 2 3\ncat 4 5 6\n")
    config = make_config(embeddings={"fasttext": "some.vec"})
    make_labeler(config).save(tmp_path / "model")
    vectors.unlink()
    done = evaluate(TINY)
    assert done.code == 0
    assert done.err.startswith("warning: some.vec: expected the vectors the model was trained with")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("phrase_width", [0, 4])
@pytest.mark.parametrize("labeling", [(), ("--no-phrases",)])
def test_phrases_are_scored(capsrl, tmp_path, phrase_width, labeling):
    make_labeler(make_config(phrase_width=phrase_width)).save(tmp_path / "model")
    gold = [with_phrases(sentence) for sentence in read_sentences(TINY)]
    write_sentences(gold, tmp_path / "gold.jsonl")
    model = ("--model", "model", "--device", "cpu")
    done = capsrl("evaluate", "gold.jsonl", *model, "--phrases", "--json", *labeling)
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)["spans"]
    capsrl("label", "gold.jsonl", *model, "-o", "out.jsonl", *labeling)
    scores = score(gold, read_sentences("out.jsonl"), phrases=True)
    assert found == scores_to_dict(scores)["spans"]
    n_arguments = scores.counts.pred_arguments
    assert found["without_phrase"] == {"gold": 0, "pred": n_arguments if labeling else 0}
    exact = found["boundaries_of_right_heads"]
    assert exact["of"] > 0
    if phrase_width == 0 and not labeling:
        assert exact["correct"] == exact["of"]  # both from the parse of the file
    else:
        assert exact["correct"] < exact["of"]
