"""Train a model from a recipe and a corpus."""
