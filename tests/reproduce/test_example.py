"""Figures 1 and 2 are drawn with the model that ships."""

import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("matplotlib")

from reproduce.example import draw_architecture, draw_example, labeled


def test_both_figures():
    senses = {p.sense: {a.role: a.word for a in p.arguments} for p in labeled().propositions}
    assert senses["prevent.01"]["A0"] == 1  # injury
    for text in (draw_example(), draw_architecture(labeled())):
        assert ET.fromstring(text).tag.endswith("svg")
    assert "Hiti" in draw_example()
