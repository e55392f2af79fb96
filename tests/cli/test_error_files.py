"""`--errors` and `--confusion` of `capsrl score` and `capsrl evaluate`."""

import json

import pytest

GOLD = [
    {
        "words": ["She", "sold", "\ud800cars"],
        "propositions": [
            {
                "predicate": 1,
                "sense": "sell.01",
                "arguments": [{"role": "A0", "word": 0}, {"role": "A1", "word": 2}],
            }
        ],
    },
    {"words": ["Yes"]},
]


@pytest.fixture
def files(tmp_path):
    gold = "".join(json.dumps(each) + "\n" for each in GOLD)
    (tmp_path / "gold.jsonl").write_text(gold)
    (tmp_path / "pred.jsonl").write_text(gold.replace("A1", "A2").replace("sell.01", "sell.02"))
    return tmp_path


def test_lines(files, capsrl):
    done = capsrl("score", "gold.jsonl", "pred.jsonl", "--errors", "errors.jsonl")
    assert (done.code, done.err) == (0, "errors.jsonl written: 2 mistakes\n")
    records = [json.loads(line) for line in (files / "errors.jsonl").read_text().splitlines()]
    assert [(each["kind"], each["gold_role"], each["pred_role"]) for each in records] == [
        ("wrong sense", None, None),
        ("wrong role", "A1", "A2"),
    ]
    assert records[1]["gold_form"] == "\ud800cars"


def test_page(files, capsrl):
    done = capsrl("score", "gold.jsonl", "pred.jsonl", "--errors", "errors.html")
    assert (done.code, done.err) == (0, "errors.html written: 2 mistakes\n")
    page = (files / "errors.html").read_text()
    assert "<title>Mistakes of pred.jsonl on gold.jsonl</title>" in page
    assert "1 of 1 propositions have a mistake" in page


def test_other_suffixes_are_refused_before_anything_is_read(files, capsrl):
    done = capsrl("score", "none.jsonl", "none.jsonl", "--errors", "errors.csv")
    assert done.code == 2
    assert done.err == "error: --errors: expected a file .html or .jsonl, got errors.csv\n"


def test_confusion(files, capsrl):
    out = capsrl("score", "gold.jsonl", "pred.jsonl", "--confusion").out
    _, _, confusions = out.partition("\nRoles of the same words: gold in rows, predicted in col")
    rows = [" ".join(line.split()) for line in confusions.splitlines()]
    assert rows[1:6] == ["A0 A1 A2 none", "A0 1 . . .", "A1 . . 1 .", "A2 . . . .", "none . . . ."]
    assert "A1 A2 1 100.0 %" in rows and "sell.01 sell.02 1" in rows
    report = json.loads(capsrl("score", "gold.jsonl", "pred.jsonl", "--confusion", "--json").out)
    assert report["confusion"] == {
        "roles": ["A0", "A1", "A2", "none"],
        "matrix": [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        "senses": [{"gold": "sell.01", "pred": "sell.02", "count": 1}],
    }
    assert "confusion" not in json.loads(capsrl("score", "gold.jsonl", "pred.jsonl", "--json").out)


def test_rare_roles_share_a_column(files, capsrl):
    arguments = [{"role": f"A{number}", "word": 0} for number in range(12)]
    sentence = {"words": ["a", "b"]}
    proposition = {"predicate": 1, "sense": "b.01", "arguments": arguments}
    (files / "gold.jsonl").write_text(json.dumps({**sentence, "propositions": [proposition]}))
    out = capsrl("score", "gold.jsonl", "gold.jsonl", "--confusion").out
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "other . . . . . . . . 4 ." in rows
    out = capsrl("score", "gold.jsonl", "gold.jsonl", "--confusion", "--json").out
    assert len(json.loads(out)["confusion"]["matrix"]) == 13


def test_evaluate(files, capsrl):
    done = capsrl("evaluate", "gold.jsonl", "--confusion", "--errors", "errors.html")
    assert done.code == 0
    assert "No senses are confused." in done.out
    assert "<title>Mistakes of en on gold.jsonl</title>" in (files / "errors.html").read_text()
