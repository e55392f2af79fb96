"""Extract the graph of neo4j-graphrag from texts, without a language model.

    python examples/graphs/neo4j_graph.py

Needs neo4j-graphrag. In a pipeline the component takes the place of LLMEntityRelationExtractor,
and Neo4jWriter writes what it returns; here the graph is printed and no database is needed.
"""

import asyncio
from typing import Any

from neo4j_graphrag.components.entity_relation_extractor import EntityRelationExtractor
from neo4j_graphrag.components.types import (
    DocumentInfo,
    LexicalGraphConfig,
    Neo4jGraph,
    Neo4jNode,
    Neo4jRelationship,
    TextChunk,
    TextChunks,
)

import capsrl

TEXTS = [
    "Brasco acquired Halden Foods in May.",
    "The bakery was sold by Norvik. Norvik sued Brasco.",
]
labeler = capsrl.load()


class PropositionExtractor(EntityRelationExtractor):
    """Makes a node of each subject and object and a relationship of each predicate."""

    async def run(
        self,
        chunks: TextChunks,
        document_info: DocumentInfo | None = None,
        lexical_graph_config: LexicalGraphConfig | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> Neo4jGraph:
        """Extract the graph of all chunks."""
        nodes, relationships = {}, []
        labeled = labeler.label([chunk.text for chunk in chunks.chunks])
        for chunk, sentences in zip(chunks.chunks, labeled, strict=True):
            for triple in capsrl.triples(sentences, threshold=0.3):
                for name in (triple.subject, triple.object):
                    nodes[name] = Neo4jNode(id=name, label="Entity", properties={"name": name})
                details = {"sense": triple.sense, "negated": triple.negated, "chunk": chunk.uid}
                details["probability"] = triple.probability
                relationships.append(
                    Neo4jRelationship(
                        start_node_id=triple.subject,
                        end_node_id=triple.object,
                        type=triple.predicate.upper(),
                        properties=details,
                    )
                )
        return Neo4jGraph(nodes=list(nodes.values()), relationships=relationships)


chunks = TextChunks(chunks=[TextChunk(text=text, index=i) for i, text in enumerate(TEXTS)])
graph = asyncio.run(PropositionExtractor().run(chunks))
for each in graph.relationships:
    print(f"({each.start_node_id})-[:{each.type}]->({each.end_node_id})")
