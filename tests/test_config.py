"""The settings themselves: each has a meaning, a range and a valid default."""

from capsrl.config import DataConfig, Recipe
from capsrl.recipe import DEFAULTS, SETTINGS
from capsrl.settings import find_mistakes, to_values


def test_every_number_has_a_range():
    numbers = {key for key, value in DEFAULTS.items() if type(value) in (int, float)}
    assert numbers == {key for key, setting in SETTINGS.items() if setting.range is not None}


def test_every_setting_has_a_meaning():
    assert [key for key, setting in SETTINGS.items() if not setting.meaning] == []


def test_defaults_are_valid():
    defaults = to_values(Recipe(data=DataConfig(train="a", dev="b")))
    assert find_mistakes(Recipe, defaults) == {}
