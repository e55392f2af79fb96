"""What can be chosen: the recipe as frozen dataclasses, one per part of the walk.

The defaults are the paper's where it says something, but for `predicate` (the paper's recipes look
it up). A recipe file holds only what it changes.
"""

from dataclasses import dataclass, field
from typing import Literal

Variant = Literal["capsule+global", "capsule", "word", "baseline"]
ROUTED = ("capsule", "capsule+global")  # those that iterate


@dataclass(frozen=True, kw_only=True)
class EmbeddingsConfig:
    """Sources of word vectors; those named are concatenated.

    transformer  folder of a Hugging Face encoder, or the name of an installed package that has one
    fine_tune    train the transformer with the rest; else it is frozen and its layers are mixed
    mark_predicate  encode the sentence once per predicate, the predicate marked by token type 1
    elmo         folder with options.json and weights.hdf5
    fasttext     a .vec or .bin file
    learned      width of learned word vectors, 0 for none
    characters   width of the character model for words, 0 for none
    tags         width of learned part-of-speech vectors, 0 for none (the paper uses no syntax)
    dropout      of the concatenated vectors
    """

    transformer: str | None = None
    fine_tune: bool = False
    mark_predicate: bool = False
    elmo: str | None = None
    fasttext: str | None = None
    learned: int = 0
    characters: int = 0
    tags: int = 0
    dropout: float = 0.0


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """The BiLSTM over the word vectors, and the optional layer that sees the predicate.

    layers           0 takes the word vectors as they are
    width            units each way
    dropout          variational: one mask per sentence, on the inputs of every layer
    predicate_width  units each way of one more BiLSTM over [word; predicate], 0 for none
    """

    layers: int = 3
    width: int = 500
    dropout: float = 0.3
    predicate_width: int = 0


@dataclass(frozen=True, kw_only=True)
class CapsulesConfig:
    """Word and role capsules (section 4 of the paper) and the global node (section 5).

    variant     the paper's full model and its three ablations
    form        dense: one matrix per role and capsule dimension (eq. 6); factored: C (A x * B p)
    size        the paper's K
    rank        width to which words and predicate are brought before they meet
    iterations  of routing in training; another number can be asked for at prediction time
    predicate   lookup: an embedding of the lemma (eq. 2); state: the encoder's state there, as in
                the authors' code
    lookup_width  of that embedding
    global_from   intermediate: eq. 11; squashed: ReLU of the squashed capsules (authors' code)
    dropout       of words and predicate where they meet
    initial_scale      of the word capsules, above that of unit products. LSTM states are small, and
                       squash lets little of small capsules through: 10 suits a BiLSTM
    initial_agreement  W of eqs. 10 and 12 starts as this times the identity. At 1 the first
                       iteration settles everything; at 0.1 there is something left to refine
    parts         in which training routes the predicates of a batch: more parts take less memory
                  and more time
    """

    variant: Variant = "capsule+global"
    form: Literal["dense", "factored"] = "dense"
    size: int = 16
    rank: int = 128
    iterations: int = 2
    predicate: Literal["lookup", "state"] = "state"
    lookup_width: int = 100
    global_from: Literal["intermediate", "squashed"] = "intermediate"
    dropout: float = 0.0
    initial_scale: float = 1.0
    initial_agreement: float = 1.0
    parts: int = 1


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Everything that decides the shape of the network.

    tagger  predict parts of speech as well: raw text has none, and lemmas depend on them
    """

    tagger: bool = False
    embeddings: EmbeddingsConfig = field(default_factory=EmbeddingsConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    capsules: CapsulesConfig = field(default_factory=CapsulesConfig)


@dataclass(frozen=True, kw_only=True)
class LossConfig:
    """Weights of the terms of the loss; the roles' own weight is 1.

    l2          lambda of eq. 15, on every trained parameter
    uniqueness  eta of eq. 17
    earlier     the roles' and the uniqueness term are weighted means over the iterations: this is
                the weight of each before the last, which weighs 1. 0, the paper's: the last alone
    sense, predicates  of the sense and predicate-identification terms
    gumbel      add Gumbel noise to role and sense logits while training (authors' code)
    tags        of the tagger's term, where the model has one
    """

    l2: float = 4e-4
    uniqueness: float = 0.0
    earlier: float = 0.0
    sense: float = 1.0
    predicates: float = 1.0
    gumbel: bool = False
    tags: float = 0.1


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How long, how fast, how much at once.

    batch_words    words of one batch, padding counted
    learning_rate  of everything but a fine-tuned transformer, whose rate is transformer_rate
    layer_decay    each transformer layer below the top learns this much slower than the one above
    warmup         share of the steps over which the rates rise; after it they fall as decay says
    average        decay of the running average of the weights, which is then what is kept; 0: none
    patience       epochs without a better dev F1 before stopping
    checkpoint_every  steps between resumable checkpoints, besides one after every epoch; 0: none at
                      all, for runs that are shorter than it takes to write a large model often
    bf16           mixed precision on a GPU
    keep_states    let ELMo or a frozen transformer read the training and dev sentences once, not in
                   every epoch, and keep its states in memory (words x layers x width x 2 bytes)
    """

    seed: int = 1
    epochs: int = 100
    batch_words: int = 1000
    learning_rate: float = 1e-4
    transformer_rate: float = 5e-5
    layer_decay: float = 1.0
    warmup: float = 0.05
    decay: Literal["none", "linear", "cosine"] = "none"
    weight_decay: float = 0.0
    average: float = 0.0
    clip: float = 5.0
    patience: int = 20
    checkpoint_every: int = 200
    bf16: bool = True
    keep_states: bool = False


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """The files. Paths are relative to the recipe.

    test    scored once at the end and written to the model card, by name
    frames  folder of PropBank frame files: more candidate senses, and role descriptions
    name, licence  of the corpus, for the model card
    """

    train: str
    dev: str
    test: dict[str, str] = field(default_factory=dict)
    frames: str | None = None
    name: str = ""
    language: str = ""
    licence: str = ""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A whole training run."""

    data: DataConfig
    model: ModelConfig = field(default_factory=ModelConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
