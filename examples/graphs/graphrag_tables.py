"""Write the tables with which GraphRAG starts from a graph of one's own.

    python examples/graphs/graphrag_tables.py [FOLDER]

Needs pandas and pyarrow, not GraphRAG itself. Put the folder where settings.yaml has its output
and run the workflows from create_communities on ("bring your own graph").
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pandas

import capsrl

TEXTS = {
    "t1": "Brasco acquired Halden Foods in May. Norvik sued Brasco.",
    "t2": "The bakery was sold by Norvik. Brasco was sued by Norvik again.",
}

labeled = capsrl.load().label_many(TEXTS.items(), as_tuples=True)
entities, edges = defaultdict(set), defaultdict(list)
for unit, sentences in labeled:
    for sentence in sentences:
        for t in capsrl.triples(sentence, threshold=0.3):
            entities[t.subject].add(unit)
            entities[t.object].add(unit)
            edges[t.subject, t.object].append((unit, sentence.text, t.probability))

degree = Counter(name for edge in edges for name in edge)
nodes = [
    {
        "id": str(uuid5(NAMESPACE_URL, name)),
        "human_readable_id": number,
        "title": name,
        "type": "ENTITY",
        "description": " ".join(
            dict.fromkeys(s for e in edges if name in e for _, s, _ in edges[e])
        ),
        "text_unit_ids": sorted(units),
        "frequency": len(units),
        "degree": degree[name],
    }
    for number, (name, units) in enumerate(entities.items())
]
relationships = [
    {
        "id": str(uuid5(NAMESPACE_URL, f"{source}\t{target}")),
        "human_readable_id": number,
        "source": source,
        "target": target,
        "description": " ".join(text for _, text, _ in found),
        "weight": sum(probability for *_, probability in found),
        "combined_degree": degree[source] + degree[target],
        "text_unit_ids": sorted({unit for unit, *_ in found}),
    }
    for number, ((source, target), found) in enumerate(edges.items())
]
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
folder.mkdir(parents=True, exist_ok=True)
pandas.DataFrame(nodes).to_parquet(folder / "entities.parquet")
pandas.DataFrame(relationships).to_parquet(folder / "relationships.parquet")
for each in relationships:
    print(each["source"], "->", each["target"], round(each["weight"], 1))
