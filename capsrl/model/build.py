"""A config and an inventory in, a network out: the one place where settings become modules."""

from pathlib import Path

from torch import nn

from capsrl.config import EmbeddingsConfig, ModelConfig
from capsrl.data.inventory import Inventory
from capsrl.errors import ConfigError
from capsrl.model.capsules import CapsuleForms
from capsrl.model.embeddings import WordVectors
from capsrl.model.embeddings.transformer import Transformer
from capsrl.model.encoder import BiLSTM, PredicateLayer
from capsrl.model.network import Network
from capsrl.model.predicates import PredicateFinder, SenseScorer
from capsrl.model.routing import Routing
from capsrl.model.syntax import Parser

SENSE_WIDTH = 128
PARSER_WIDTH = 256


def make_network(
    config: ModelConfig, inventory: Inventory, *, folder: Path | None = None, parser: bool = False
) -> Network:
    """Make a network, with random weights but for pretrained word vectors.

    folder  a model folder that holds all weights: nothing pretrained is read
    parser  with the auxiliary parser, for training
    """
    vectors = WordVectors(_make_sources(config.embeddings, inventory, folder))
    encoder = BiLSTM(
        vectors.width,
        width=config.encoder.width,
        n_layers=config.encoder.layers,
        dropout=config.encoder.dropout,
    )
    width = word_width = encoder.width
    predicate_layer = None
    if config.encoder.predicate_width:
        predicate_layer = PredicateLayer(
            width, width=config.encoder.predicate_width, dropout=config.encoder.dropout
        )
        word_width = width + predicate_layer.width
    capsules = config.capsules
    by_lookup = capsules.predicate == "lookup"
    size = 1 if capsules.variant == "baseline" else capsules.size
    n_roles = len(inventory.roles)
    return Network(
        inventory=inventory,
        vectors=vectors,
        vector_dropout=config.embeddings.dropout,
        encoder=encoder,
        predicate_layer=predicate_layer,
        finder=PredicateFinder(width),
        senses=_make_senses(width, inventory),
        lookup=nn.Embedding(len(inventory.lemmas), capsules.lookup_width) if by_lookup else None,
        forms=CapsuleForms(
            word_width=word_width,
            predicate_width=capsules.lookup_width if by_lookup else width,
            n_roles=n_roles,
            size=size,
            rank=capsules.rank,
            form=capsules.form,
        ),
        routing=Routing(
            variant=capsules.variant, n_roles=n_roles, size=size, global_from=capsules.global_from
        ),
        parser=Parser(
            width,
            width=PARSER_WIDTH,
            n_tags=len(inventory.tags),
            n_relations=len(inventory.relations),
        )
        if parser
        else None,
        n_iterations=capsules.iterations,
        mark_predicate=config.embeddings.mark_predicate,
    )


def _make_sources(
    config: EmbeddingsConfig, inventory: Inventory, folder: Path | None
) -> dict[str, nn.Module]:
    sources: dict[str, nn.Module] = {}
    if config.transformer is not None:
        sources["transformer"] = Transformer(
            config.transformer if folder is None else folder / "transformer",
            fine_tune=config.fine_tune,
            pretrained=folder is None,
        )
    if not sources:
        raise ConfigError(
            "model.embeddings: expected at least one of transformer, elmo, fasttext, learned, "
            "characters, got none"
        )
    return sources


def _make_senses(width: int, inventory: Inventory) -> SenseScorer:
    n_patterns = len(inventory.patterns)
    patterns = [n_patterns] * len(inventory.senses)
    for lemma, candidates in inventory.candidates.items():
        for sense in candidates:
            pattern = inventory.pattern_id(inventory.senses[sense], lemma)
            if pattern is not None:
                patterns[sense] = min(pattern, patterns[sense])
    return SenseScorer(
        width,
        width=SENSE_WIDTH,
        counts=inventory.sense_counts,
        patterns=patterns,
        n_patterns=n_patterns,
    )
