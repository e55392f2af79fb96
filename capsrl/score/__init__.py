"""Scores of predicted propositions against gold ones; needs no torch."""
