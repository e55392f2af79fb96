"""Search a labeled corpus with SQL, and show what was found in its context.

    python examples/search_corpus.py [LEMMA]

Needs DuckDB and pyarrow: pip install duckdb '.[tables]'. A large corpus is labeled once, with
`capsrl bulk texts labeled --to parquet --rows proposition`; the query then reads
'labeled/data/*.parquet' instead of the frame.
"""

import sys

import duckdb

import capsrl

LETTERS = [
    "My aunt sold her boat to a fisherman. He never painted it.",
    "The boat was sold again in spring. A museum wanted to buy it, but the price was too high.",
    "We sold the fisherman a net. He gave us three herrings for the old sail.",
    "Nobody sold us any bread on Sunday. The baker had given his bread to the poor.",
]
QUERY = """
    SELECT document, text, predicate_start - sentence_start AS start,
           predicate_end - sentence_start AS stop, A0, A1, A2
    FROM facts
    WHERE lemma = ? AND NOT negated AND sense_probability > 0.5
    ORDER BY document, predicate_start
"""

lemma = sys.argv[1] if len(sys.argv) > 1 else "sell"
labeled = capsrl.load().label_many(LETTERS)
facts = capsrl.to_frame(labeled, rows="proposition")
for document, text, start, stop, *roles in duckdb.execute(QUERY, [lemma]).fetchall():
    left, word, right = text[:start][-25:], text[start:stop], text[stop:][:25]
    print(f"{document} {left:>25}[{word}]{right:25} {' | '.join(role or '-' for role in roles)}")
