"""The predictor keeps the contract of AllenNLP's, which relatio and others rely on."""

import subprocess
import sys
from types import ModuleType

import pytest

from capsrl.allennlp import Predictor, SemanticRoleLabelerPredictor
from capsrl.errors import DataError


@pytest.fixture(scope="module")
def predictor():
    return Predictor.from_path("en")


def test_a_sentence(predictor):
    found = predictor.predict(sentence="Mira would never sell her bicycle.")
    assert found["words"] == ["Mira", "would", "never", "sell", "her", "bicycle", "."]
    [verb] = found["verbs"]
    assert verb["verb"] == "sell"
    assert verb["tags"] == [
        "B-ARG0", "B-ARGM-MOD", "B-ARGM-NEG", "B-V", "B-ARG1", "I-ARG1", "O",
    ]  # fmt: skip
    assert verb["description"] == (
        "[ARG0: Mira] [ARGM-MOD: would] [ARGM-NEG: never] [V: sell] [ARG1: her bicycle] ."
    )


def test_one_result_for_every_text(predictor):
    texts = ["", "Dogs bark. Cats sleep.", "   ", "One line\n\nand another.", "Well."]
    found = predictor.predict_batch_json([{"sentence": text} for text in texts])
    assert [each["words"] for each in found] == [
        [],
        ["Dogs", "bark", ".", "Cats", "sleep", "."],
        [],
        ["One", "line", "and", "another", "."],
        ["Well", "."],
    ]
    assert [verb["tags"] for verb in found[1]["verbs"]] == [
        ["B-ARG0", "B-V", "O", "O", "O", "O"],
        ["O", "O", "O", "B-ARG0", "B-V", "O"],
    ]
    assert found[1]["verbs"][1]["description"] == "Dogs bark . [ARG0: Cats] [V: sleep] ."
    assert found[4] == {"verbs": [], "words": ["Well", "."]}


def test_verbs_unless_others_are_asked_for(predictor):
    text = "The decision surprised us."
    assert [verb["verb"] for verb in predictor.predict(text)["verbs"]] == ["surprised"]
    every = Predictor(predictor.labeler, pos=None)
    assert [verb["verb"] for verb in every.predict(text)["verbs"]] == ["decision", "surprised"]


def test_known_words(predictor):
    words = ["Omar", "ice-creams", "don't", "melt"]
    assert predictor.predict_tokenized(words)["words"] == words
    assert predictor.predict_tokenized([]) == {"verbs": [], "words": []}


def test_predict_json_is_predict(predictor):
    text = "Omar left."
    assert predictor.predict_json({"sentence": text}) == predictor.predict(text)
    with pytest.raises(DataError, match=r"inputs\[1\]: expected a string 'sentence', got None"):
        predictor.predict_batch_json([{"sentence": text}, {"text": text}])


def test_the_names_of_archives_load_the_english_model():
    assert SemanticRoleLabelerPredictor is Predictor
    with pytest.warns(UserWarning, match="srl-bert: not a model of capsrl; labeling with its En"):
        found = Predictor.from_path("structured-prediction-srl-bert")
    assert found.predict("Omar left.")["verbs"][0]["verb"] == "left"


def test_needs_no_torch():
    code = "import sys, capsrl.allennlp as a; a.Predictor().predict('Omar left.'); "
    code += "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


TEXTS = ["Taxes kill jobs.", "", "Omar would never give up. The house was rebuilt by Mira."]
ROLES = ["ARG0", "B-V", "B-ARGM-NEG", "B-ARGM-MOD", "ARG1", "ARG2"]
STATEMENTS = [
    (0, {"ARG0": "Taxes", "B-V": "kill", "ARG1": "jobs"}),
    (2, {"ARG0": "Omar", "B-V": "give", "B-ARGM-MOD": "would", "B-ARGM-NEG": True}),
    (2, {"ARG0": "by Mira", "B-V": "rebuilt", "ARG1": "The house"}),
]


def test_the_contract_of_relatio(predictor):
    """It numbers its statements by result, and looks for the names of roles inside the tags."""
    found = []
    for number, result in enumerate(predictor.predict_batch_json([{"sentence": t} for t in TEXTS])):
        for verb in result["verbs"]:
            assert len(verb["tags"]) == len(result["words"]) and verb["tags"].count("B-V") == 1
            pairs = list(zip(result["words"], verb["tags"], strict=True))
            roles = {role: [word for word, tag in pairs if role in tag] for role in ROLES}
            statement = {role: " ".join(words) for role, words in roles.items() if words}
            found.append((number, statement | ({"B-ARGM-NEG": True} if roles[ROLES[2]] else {})))
    assert found == STATEMENTS


@pytest.mark.filterwarnings("ignore")
def test_relatio_itself(monkeypatch):
    """Its class SRL and its extract_roles, where it is installed."""
    for name in ("", ".structured_prediction", ".structured_prediction.predictors"):
        module = ModuleType(f"allennlp_models{name}")
        module.SemanticRoleLabelerPredictor = Predictor  # what relatio 0.3 imports
        monkeypatch.setitem(sys.modules, module.__name__, module)
    srl = pytest.importorskip("relatio.semantic_role_labeling", exc_type=ImportError)
    monkeypatch.setattr(srl, "Predictor", Predictor)
    monkeypatch.setattr(srl, "ALLENNLP_AVAILABLE", True, raising=False)
    found = srl.SRL("openie-model.2020.03.26.tar.gz", batch_size=2)(TEXTS)
    statements, numbers = srl.extract_roles(found, used_roles=ROLES)
    assert list(zip(numbers.tolist(), statements, strict=True)) == STATEMENTS
