"""From a recipe and a corpus to a model folder."""
