"""The scripts of examples/graphs fill the graphs of other packages, where these are installed."""

import asyncio

import pytest

from tests.examples.test_examples import run

pytestmark = pytest.mark.slow


def test_llamaindex(tmp_path):
    pytest.importorskip("llama_index.core")
    assert run(tmp_path, "graphs/llamaindex_graph") == [
        "Norvik sell The bakery",
        "Norvik sue Brasco",
    ]


def test_neo4j(tmp_path):
    pytest.importorskip("neo4j_graphrag")
    found = run(tmp_path, "graphs/neo4j_graph")
    assert "(Norvik)-[:SELL]->(The bakery)" in found and len(found) == 3


@pytest.fixture
def tables(tmp_path):
    found = run(tmp_path, "graphs/graphrag_tables", "output")
    assert [line.rpartition(" ")[0] for line in found] == [
        "Brasco -> Halden Foods",
        "Norvik -> Brasco",
        "Norvik -> The bakery",
    ]
    return tmp_path / "output"


def test_graphrag_tables(tables):
    pandas = pytest.importorskip("pandas")
    entities = pandas.read_parquet(tables / "entities.parquet").set_index("title")
    edges = pandas.read_parquet(tables / "relationships.parquet")
    assert set(edges["source"]) | set(edges["target"]) == set(entities.index)
    assert list(entities.loc["Norvik", "text_unit_ids"]) == ["t1", "t2"]
    assert 1 < edges["weight"][1] < 2  # two propositions, active and passive
    assert entities.loc["Norvik", "description"].count("sued") == 2


@pytest.mark.filterwarnings("ignore")  # what GraphRAG imports has many
def test_graphrag_makes_communities_of_them(tables, monkeypatch):
    """With GraphRAG's own reader, types of columns and workflow."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is downloaded
    pytest.importorskip("graphrag")
    from graphrag.data_model.data_reader import DataReader
    from graphrag.data_model.schemas import ENTITIES_FINAL_COLUMNS, RELATIONSHIPS_FINAL_COLUMNS
    from graphrag.index.workflows.create_communities import create_communities
    from graphrag_storage.file_storage import FileStorage
    from graphrag_storage.tables.parquet_table_provider import ParquetTableProvider

    async def communities():
        provider = ParquetTableProvider(FileStorage(base_dir=str(tables)))
        reader = DataReader(provider)
        entities, edges = await reader.entities(), await reader.relationships()
        assert list(entities) == ENTITIES_FINAL_COLUMNS
        assert list(edges) == RELATIONSHIPS_FINAL_COLUMNS
        async with provider.open("entities") as nodes, provider.open("communities") as found:
            return await create_communities(found, nodes, edges, 10, use_lcc=False, seed=1)

    [community] = asyncio.run(communities())
    assert len(community["entity_ids"]) == 4 and len(community["relationship_ids"]) == 3
