"""What is read from model cards: title, language, score, examples, roles; all of it optional."""

import time

import pytest

from capsrl.errors import ModelError
from capsrl.predict.card import Card, read_card, read_examples

CARD = """---
language: de
license: mit
---
# Rollen

| set | predicates | F1 |
|---|---|--:|
| Test | given | 71.50 |

## Examples

Texts of several kinds:

- **Rezept** Man nehme ein Ei.
- Es regnet.

## Roles

* **FOOD**: what is cooked
"""


def test_card(tmp_path):
    (tmp_path / "README.md").write_text(CARD.replace("\n", "\r\n"), newline="")
    (tmp_path / "weights").write_bytes(bytes(1000))
    card = read_card(tmp_path)
    assert (card.title, card.language, card.license) == ("Rollen", "German", "mit")
    assert (card.f1_on, card.f1) == ("Test", "71.50")
    assert card.examples == (("Rezept", "Man nehme ein Ei."), ("", "Es regnet."))
    assert card.roles == {"FOOD": "what is cooked"}
    assert "license" not in card.body and card.size > 1000


def test_everything_is_optional(tmp_path):
    assert read_card(None) == Card()
    assert read_card(tmp_path) == Card(title=tmp_path.name)
    for text in (
        "",
        "---\n",
        "| F1 |\n",
        "| F1 |\n|---|\n",
        "| a | F1 |\n|--|--|\n| 1 |\n",
        "\xff",
    ):
        (tmp_path / "README.md").write_text(text, encoding="latin-1")
        card = read_card(tmp_path)
        assert (card.title, card.language, card.f1) == (tmp_path.name, "", ""), text


def test_unknown_languages_are_shown_as_they_are(tmp_path):
    (tmp_path / "README.md").write_text("---\nlanguage: tlh\n---\n")
    assert read_card(tmp_path).language == "tlh"


def test_examples():
    assert read_examples("\n**News**  It  rained.\n- \nDogs bark.\n") == (
        ("News", "It rained."),
        ("", "Dogs bark."),
    )


def test_spaces_without_end(tmp_path):
    """A card may come from anywhere; time for the square of their number would be seconds."""
    spaces = " " * 60_000
    card = f"---\nlicense: mit{spaces}x\n---\n# A{spaces}x\n"
    (tmp_path / "README.md").write_text(card)
    begin = time.process_time()
    found = read_card(tmp_path)
    assert time.process_time() - begin < 1
    assert (found.license, found.title) == (f"mit{spaces}x", f"A{spaces}x")
    (tmp_path / "README.md").write_text(card + card)
    with pytest.raises(ModelError, match="README.md: expected at most 131,072 bytes, got"):
        read_card(tmp_path)
