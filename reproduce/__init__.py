"""The experiments of the paper: make runs, then report tables, figures and claims.

plan ──▶ runs ──measure──▶ results ──▶ corpora ──▶ tables, figures, claims ──▶ report ──▶ page

This package is not installed with capsrl and uses its public API. Run it from a clone:

    python -m reproduce run PLAN.toml
    python -m reproduce report RUNS OUT.html
"""
