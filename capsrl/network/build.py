"""Make a network from settings and an inventory; no other module of `network` reads settings."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from capsrl.config import EmbeddingsConfig, ModelConfig
from capsrl.errors import ConfigError
from capsrl.frames.descriptions import NO_DESCRIPTIONS, Descriptions
from capsrl.frames.kinds import CORE_ROLES, UNKNOWN_SENSE, RoleKinds, find_kinds
from capsrl.network.capsules import WordCapsuleLayer
from capsrl.network.embeddings.elmo import Elmo
from capsrl.network.embeddings.fasttext import FastText
from capsrl.network.embeddings.learned import MIN_CHARACTERS_WIDTH, Characters, LearnedWords, Tags
from capsrl.network.embeddings.source import WordSource, WordVectors
from capsrl.network.embeddings.transformer import Transformer
from capsrl.network.embeddings.vector_files import open_vectors
from capsrl.network.encoder import BiLSTM, PredicateLayer
from capsrl.network.network import Network
from capsrl.network.phrases import PhraseScorer
from capsrl.network.predicates import PredicateFinder, SenseScorer, Tagger
from capsrl.network.role_frames import RoleFrames
from capsrl.network.routing import Routing
from capsrl.predict.folder import find_stored
from capsrl.predict.inventory import Inventory

SENSE_WIDTH = 128  # of the embeddings of senses

Sources = dict[str, WordSource[Any]]


def make_network(
    config: ModelConfig,
    inventory: Inventory,
    *,
    folder: Path | None = None,
    words: Mapping[str, int] | None = None,
    descriptions: Descriptions = NO_DESCRIPTIONS,
) -> Network:
    """Make a network with random weights, except for pretrained word vectors.

    folder  a model folder, whose weights the caller will load: nothing pretrained is read
    words   frequency of each word in the training data, 0 for words of other files that will be
            labeled. All of them get a row in fastText's table, and rare words are dropped in
            training. None puts the words of the inventory in the table and drops no words
    descriptions  of the roles of the inventory's frames, if the network uses them
    """
    vectors = WordVectors(_make_sources(config.embeddings, inventory, folder, words))
    encoder = BiLSTM(
        vectors.width,
        width=config.encoder.width,
        n_layers=config.encoder.layers,
        dropout=config.encoder.dropout,
        recurrent_dropout=config.encoder.recurrent_dropout,
        output_dropout=config.encoder.output_dropout,
        highway=config.encoder.highway,
    )
    width = word_width = encoder.width
    predicate_layer = None
    if config.encoder.predicate_width:
        predicate_layer = PredicateLayer(
            width, width=config.encoder.predicate_width, dropout=config.encoder.dropout
        )
        word_width = width + predicate_layer.width
    capsules = config.capsules
    by_vector = capsules.predicate == "vector"
    size = 1 if capsules.variant == "baseline" else capsules.size
    n_roles = len(inventory.roles)
    return Network(
        inventory=inventory,
        vectors=vectors,
        vector_dropout=config.embeddings.dropout,
        encoder=encoder,
        predicate_layer=predicate_layer,
        finder=PredicateFinder(width),
        senses=_make_senses(width, inventory, dropout=capsules.projection_dropout),
        by_vector=by_vector,
        capsules=WordCapsuleLayer(
            word_width=word_width,
            predicate_width=vectors.width if by_vector else width,
            n_roles=n_roles,
            size=size,
            rank=capsules.rank,
            form=capsules.form,
            initial_scale=capsules.initial_scale,
            dropout=capsules.projection_dropout,
        ),
        routing=Routing(
            variant=capsules.variant,
            n_roles=n_roles,
            size=size,
            global_from=capsules.global_from,
            global_bias=capsules.global_bias,
            initial_agreement=None if capsules.xavier else capsules.initial_agreement,
            frames_at=config.frames.roles,
        ),
        frames=_make_frames(config, inventory, folder, descriptions),
        tagger=Tagger(width, n_tags=len(inventory.tags)) if config.tagger else None,
        spans=PhraseScorer(
            view_width=word_width - width,
            state_width=width,
            width=config.phrase_width,
            dropout=capsules.dropout,
        )
        if config.phrase_width
        else None,
        capsule_dropout=capsules.dropout,
        n_iterations=capsules.iterations,
        routing_chunks=capsules.routing_chunks,
        mark_predicate=config.embeddings.mark_predicate,
    )


def attach_files(network: Network, config: EmbeddingsConfig) -> None:
    """Let a loaded network use the fastText file it was trained with, if the file still exists.

    Warns if it does not. Raises ModelError if the file has other vectors.
    """
    if config.fasttext is None:
        return
    source = network.vectors.sources["fasttext"]
    assert isinstance(source, FastText)
    if Path(config.fasttext).is_file():
        source.attach(open_vectors(config.fasttext))
    else:
        warnings.warn(
            f"{config.fasttext}: no such file; the model was trained with these vectors, "
            f"and words other than the {len(source.words)} in the model folder have no vector",
            stacklevel=3,
        )


def _make_sources(
    config: EmbeddingsConfig,
    inventory: Inventory,
    folder: Path | None,
    words: Mapping[str, int] | None,
) -> Sources:
    sources: Sources = {}
    if config.transformer is not None:
        sources["transformer"] = _make_transformer(config, folder)
    if config.elmo is not None:
        sources["elmo"] = (
            Elmo.from_folder(config.elmo) if folder is None else Elmo.from_saved(folder / "elmo")
        )
    if config.fasttext is not None:
        sources["fasttext"] = (
            FastText.from_file(open_vectors(config.fasttext), words or inventory.words)
            if folder is None
            else FastText.from_saved(folder / "fasttext")
        )
    if config.learned:
        sources["learned"] = LearnedWords(words=inventory.words, width=config.learned, counts=words)
    if config.characters:
        if config.characters < MIN_CHARACTERS_WIDTH:
            raise ConfigError(
                f"model.embeddings.characters: expected 0 or at least {MIN_CHARACTERS_WIDTH}, "
                f"got {config.characters}"
            )
        sources["characters"] = Characters(characters=inventory.characters, width=config.characters)
    if config.tags:
        sources["tags"] = Tags(tags=inventory.tags, width=config.tags)
    return sources


def _make_transformer(config: EmbeddingsConfig, folder: Path | None) -> Transformer:
    assert config.transformer is not None
    transformer = Transformer(
        config.transformer if folder is None else folder / "transformer",
        fine_tune=config.fine_tune,
        mark_predicate=config.mark_predicate,
        pretrained=folder is None,
    )
    if config.mark_predicate and transformer.n_types < 2:
        raise ConfigError(
            "model.embeddings.mark_predicate: expected an encoder with 2 token types, got "
            f"{transformer.n_types} in {config.transformer}; set encoder.predicate_width instead"
        )
    return transformer


def _make_frames(
    config: ModelConfig, inventory: Inventory, folder: Path | None, descriptions: Descriptions
) -> RoleFrames | None:
    if config.frames.roles == "none":
        return None
    if folder is None:
        _check_frames(config, inventory, descriptions)
        kinds = find_kinds(inventory.senses, inventory.frames, descriptions)
    else:
        kinds = _kinds_like(folder, len(inventory.senses), width=config.frames.descriptions)
    return RoleFrames(inventory, kinds, rank=config.capsules.rank)


def _kinds_like(folder: Path, n_senses: int, *, width: int) -> RoleKinds:
    """As many kinds, tags and thematic roles as a model folder has; all senses are unknown."""
    stored = find_stored(folder)
    n_functions, n_thematic, n_kinds = (
        stored[f"frames.{name}"].shape[0] for name in ("functions", "thematic", "function_of")
    )
    return RoleKinds(
        np.full((n_senses, len(CORE_ROLES)), UNKNOWN_SENSE, np.int32),
        np.full(n_kinds, n_functions - 1, np.int16),
        np.full(n_kinds, n_thematic - 1, np.int16),
        np.zeros((n_kinds, width), np.float32),
    )


def _check_frames(config: ModelConfig, inventory: Inventory, descriptions: Descriptions) -> None:
    if not len(inventory.frames):
        raise ConfigError("model.frames.roles needs frames: set data.frames, or leave it at none")
    if config.frames.descriptions != descriptions.width:
        raise ConfigError(
            f"model.frames.descriptions is {config.frames.descriptions}, but the vectors of "
            f"data.descriptions have a width of {descriptions.width}"
        )


def _make_senses(width: int, inventory: Inventory, *, dropout: float) -> SenseScorer:
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
        dropout=dropout,
    )
