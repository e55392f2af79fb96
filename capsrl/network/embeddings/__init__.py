"""Word vectors from one or several sources: `source.py` defines a source and joins several."""
