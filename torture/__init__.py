"""Attack capsrl with mutated inputs; see docs/reliability.md.

mutations  change bytes at random, by a seed
targets    what reads bytes: every reader of files, model files, requests
fuzz       give mutated inputs to targets, within limits of time and memory

`python -m torture --help` runs them. Target, seed and number make any input again.
"""
