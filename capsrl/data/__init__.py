"""Corpora in and out: every format becomes Sentences, and Sentences become batches."""
