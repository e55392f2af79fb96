"""Fill a property graph of LlamaIndex with triples, without a language model.

    python examples/graphs/llamaindex_graph.py

Needs llama-index-core. The nodes are not embedded here, which would need a model of embeddings.
"""

from collections.abc import Sequence
from typing import Any

from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.graph_stores.types import (
    KG_NODES_KEY,
    KG_RELATIONS_KEY,
    EntityNode,
    Relation,
)
from llama_index.core.schema import BaseNode, TransformComponent

import capsrl

TEXT = "Brasco acquired Halden Foods in May. The bakery was sold by Norvik. Norvik sued Brasco."
labeler = capsrl.load()


class Propositions(TransformComponent):
    """Adds the entities and relations of each text to its metadata, where the index finds them."""

    threshold: float = 0.3  # the least joint probability of a triple

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:  # noqa: ANN401
        """Extract the triples of some nodes."""
        contents = [node.get_content() for node in nodes]
        for node, sentences in zip(nodes, labeler.label_many(contents), strict=True):
            entities = node.metadata.setdefault(KG_NODES_KEY, [])
            relations = node.metadata.setdefault(KG_RELATIONS_KEY, [])
            for triple in capsrl.triples(sentences, threshold=self.threshold):
                ends = [EntityNode(name=name) for name in (triple.subject, triple.object)]
                details = {
                    "sense": triple.sense,
                    "negated": triple.negated,
                    "probability": triple.probability,
                }
                entities += ends
                relations.append(
                    Relation(
                        label=triple.predicate,
                        source_id=ends[0].id,
                        target_id=ends[1].id,
                        properties=details,
                    )
                )
        return nodes


index = PropertyGraphIndex.from_documents(
    [Document(text=TEXT)], kg_extractors=[Propositions()], embed_kg_nodes=False
)
triplets = index.property_graph_store.get_triplets(entity_names=["Norvik"])
for source, relation, target in sorted(triplets, key=str):
    print(source.name, relation.label, target.name)
