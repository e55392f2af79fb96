"""The paper's tables and figures from one command: a plan in, runs and a report out.

plan ──▶ runs ──measure──▶ results ──▶ tables, figures, claims ──▶ page

A run is one training and all that is measured on it, kept as one small JSON file; the report is
made from these files alone.
"""
