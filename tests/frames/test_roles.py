import json

import pytest

from capsrl.frames.roles import EVERY, conll09_role, propbank_role
from capsrl.models import find_model


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("ARG0", "A0"), ("ARGA", "AA"), ("ARGM-TMP", "AM-TMP"), ("C-ARG1", "C-A1"),
        ("R-ARGM-LOC", "R-AM-LOC"), ("ARG1-DSP", "A1"), ("C-ARG1-DSP", "C-A1"), ("C-V", "C-V"),
        ("ARGM-DSP", "AM-DSP"), ("A1-DSP", "A1"), ("AM-TMP", "AM-TMP"), ("R-A0", "R-A0"),
        ("AA", "AA"), ("ARG2-PRD", "A2-PRD"), ("ARGUE", "ARGUE"), ("SARG0", "SARG0"), ("V", "V"),
    ],
)  # fmt: skip
def test_conll09_names(role, name):
    assert conll09_role(role) == name
    assert conll09_role(name) == name


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("A0", "ARG0"), ("AA", "ARGA"), ("AM-TMP", "ARGM-TMP"), ("C-A1", "C-ARG1"), ("V", "V"),
        ("R-AM-LOC", "R-ARGM-LOC"), ("C-V", "C-V"), ("arg0-agt", "arg0-agt"), ("ACT", "ACT"),
    ],
)  # fmt: skip
def test_propbank_names(role, name):
    assert propbank_role(role) == propbank_role(name) == name
    assert conll09_role(name) == role


def test_every_role_of_the_english_model_is_known():
    roles = json.loads((find_model("en") / "vocab.json").read_text(encoding="utf-8"))["roles"]
    assert {*roles[1:]} <= {*EVERY}
    assert len({*EVERY}) == len(EVERY)
