"""A config and an inventory in, a network out: the one place where settings become modules."""

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from torch import nn

from capsrl.config import EmbeddingsConfig, ModelConfig
from capsrl.errors import ConfigError
from capsrl.model.capsules import CapsuleForms
from capsrl.model.embeddings import WordVectors
from capsrl.model.embeddings.elmo import Elmo
from capsrl.model.embeddings.fasttext import FastText
from capsrl.model.embeddings.learned import MIN_CHARACTERS_WIDTH, Characters, Tags, Words
from capsrl.model.embeddings.transformer import Transformer
from capsrl.model.embeddings.vector_files import open_vectors
from capsrl.model.encoder import BiLSTM, PredicateLayer
from capsrl.model.inventory import Inventory
from capsrl.model.network import Network
from capsrl.model.predicates import PredicateFinder, SenseScorer, Tagger
from capsrl.model.routing import Routing
from capsrl.model.vocabulary import UNKNOWN_ID

SENSE_WIDTH = 128


def make_network(
    config: ModelConfig,
    inventory: Inventory,
    *,
    folder: Path | None = None,
    words: Mapping[str, int] | None = None,
) -> Network:
    """Make a network, with random weights but for pretrained word vectors.

    folder  a model folder that holds all weights: nothing pretrained is read
    words   how often training shows each word, 0 for words of other files that will be labelled:
            fastText's table has all of them, and rare learned words are at times taken for
            unknown. Without it the table has the words of the inventory, and none is dropped
    """
    vectors = WordVectors(_make_sources(config.embeddings, inventory, folder, words))
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
        lookup=_make_lookup(inventory, capsules.lookup_width) if by_lookup else None,
        forms=CapsuleForms(
            word_width=word_width,
            predicate_width=capsules.lookup_width if by_lookup else width,
            n_roles=n_roles,
            size=size,
            rank=capsules.rank,
            form=capsules.form,
            initial_scale=capsules.initial_scale,
        ),
        routing=Routing(
            variant=capsules.variant,
            n_roles=n_roles,
            size=size,
            global_from=capsules.global_from,
            initial_agreement=capsules.initial_agreement,
        ),
        tagger=Tagger(width, n_tags=len(inventory.tags)) if config.tagger else None,
        capsule_dropout=capsules.dropout,
        n_iterations=capsules.iterations,
        routing_parts=capsules.parts,
        mark_predicate=config.embeddings.mark_predicate,
    )


def attach_files(network: Network, config: EmbeddingsConfig) -> None:
    """Give a network whose weights are loaded the user's own files again, where they still are.

    Raises ModelError if a file holds other vectors than the network was trained with.
    """
    if config.fasttext is None:
        return
    source = network.vectors.sources["fasttext"]
    assert isinstance(source, FastText)
    if Path(config.fasttext).is_file():
        source.attach(open_vectors(config.fasttext))
    else:
        warnings.warn(
            f"{config.fasttext}: expected the vectors the model was trained with, got no such "
            f"file; words other than the {len(source.words)} in the model folder have no vector",
            stacklevel=3,
        )


def _make_sources(
    config: EmbeddingsConfig,
    inventory: Inventory,
    folder: Path | None,
    words: Mapping[str, int] | None,
) -> dict[str, nn.Module]:
    sources = (
        _pretrained(config, words or inventory.words) if folder is None else _saved(config, folder)
    )
    if config.learned:
        sources["learned"] = Words(words=inventory.words, width=config.learned, counts=words)
    if config.characters:
        if config.characters < MIN_CHARACTERS_WIDTH:
            raise ConfigError(
                f"model.embeddings.characters: expected 0 or at least {MIN_CHARACTERS_WIDTH}, "
                f"got {config.characters}"
            )
        sources["characters"] = Characters(characters=inventory.characters, width=config.characters)
    if not sources:
        raise ConfigError(
            "model.embeddings: expected at least one of transformer, elmo, fasttext, learned, "
            "characters, got none"
        )
    if config.tags:
        sources["tags"] = Tags(tags=inventory.tags, width=config.tags)
    return sources


def _pretrained(config: EmbeddingsConfig, words: Iterable[str]) -> dict[str, nn.Module]:
    """Sources read from the files that the config names."""
    sources: dict[str, nn.Module] = {}
    if config.transformer is not None:
        sources["transformer"] = Transformer(config.transformer, fine_tune=config.fine_tune)
        _check_types(sources["transformer"], config)
    if config.elmo is not None:
        sources["elmo"] = Elmo.from_folder(config.elmo)
    if config.fasttext is not None:
        sources["fasttext"] = FastText.from_file(open_vectors(config.fasttext), words)
    return sources


def _check_types(transformer: nn.Module, config: EmbeddingsConfig) -> None:
    assert isinstance(transformer, Transformer)
    if config.mark_predicate and transformer.n_types < 2:
        raise ConfigError(
            f"model.embeddings.mark_predicate: expected an encoder with 2 token types, got "
            f"{transformer.n_types} in {config.transformer}; set encoder.predicate_width instead"
        )


def _saved(config: EmbeddingsConfig, folder: Path) -> dict[str, nn.Module]:
    """The same sources from what `WordVectors.save_files` wrote, their weights not set."""
    sources: dict[str, nn.Module] = {}
    if config.transformer is not None:
        sources["transformer"] = Transformer(
            folder / "transformer", fine_tune=config.fine_tune, pretrained=False
        )
    if config.elmo is not None:
        sources["elmo"] = Elmo.from_saved(folder / "elmo")
    if config.fasttext is not None:
        sources["fasttext"] = FastText.from_saved(folder / "fasttext")
    return sources


def _make_lookup(inventory: Inventory, width: int) -> nn.Embedding:
    # No training predicate is unknown, so nothing would ever teach that row: zeros, not noise.
    return nn.Embedding(len(inventory.lemmas), width, padding_idx=UNKNOWN_ID)


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
