"""Count narratives, triples of who did what to whom, by year.

    python examples/narratives_over_time.py

Needs pandas. Active and passive sentences give the same triple, and what is denied another one.
Names of the same actor are put together by hand here, in ACTORS; entity linking could do it.
"""

import pandas

import capsrl

HEADLINES = [
    ("2022", "Parliament raises taxes. Taxes hurt shops, owners say."),
    ("2022", "Shops are hurt by the new taxes."),
    ("2022", "The government helped the farmers after the flood."),
    ("2023", "The farmers were helped by the cabinet, but taxes still hurt shops."),
    ("2023", "Imports threaten the farmers, the union warns."),
    ("2024", "The government did not help the farmers this time."),
    ("2024", "Farmers are threatened by imports."),
    ("2024", "Imports threaten the farmers, and the cabinet never helped the farmers."),
]
ACTORS = {"cabinet": "government", "new taxes": "taxes"}


def actor(phrase: str) -> str:
    """A phrase in lower case without its article, by the name that it is counted under."""
    name = phrase.lower().removeprefix("the ")
    return ACTORS.get(name, name)


labeled = capsrl.load().label_many(((year, text) for year, text in HEADLINES), as_tuples=True)
rows = [
    (year, f"{actor(t.subject)} {'not ' if t.negated else ''}{t.predicate} {actor(t.object)}")
    for year, sentences in labeled
    for t in capsrl.triples(sentences, threshold=0.3)
]
told = pandas.DataFrame(rows, columns=["year", "narrative"])
table = pandas.crosstab(told["narrative"], told["year"])
print(table[table.sum(axis=1) > 1].to_string())
