"""The settings of a training run: every key a recipe can set, with its range and default.

A field is annotated with its range, its marks (settings.py) and what it means; `capsrl train
--keys` prints them all. The defaults are the paper's where it names a value, except for
`model.capsules.predicate`. A recipe names only what it changes.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from capsrl.settings import (
    ABOVE_1_OR_0,
    AT_LEAST_1,
    COSMETIC,
    FACTOR,
    FRACTION,
    NOT_NEGATIVE,
    PATH,
    PATH_OR_MODEL,
    PATH_OR_PACKAGE,
    POSITIVE,
    UP_TO_100,
)

Variant = Literal["capsule+global", "capsule", "word", "baseline"]
ROUTED = ("capsule", "capsule+global")  # the variants that route iteratively


@dataclass(frozen=True, kw_only=True)
class EmbeddingsConfig:
    """Sources of word vectors; the vectors of all sources that are set are concatenated."""

    transformer: Annotated[
        str | None,
        PATH_OR_PACKAGE,
        "folder of a Hugging Face encoder, or an installed package that contains one",
    ] = None
    fine_tune: Annotated[bool, "train the transformer too; else mix its frozen layers"] = False
    mark_predicate: Annotated[
        bool, "encode the sentence once per predicate, marked by token type 1"
    ] = False
    elmo: Annotated[str | None, PATH, "folder with options.json and weights.hdf5"] = None
    fasttext: Annotated[str | None, PATH, "fastText vectors, a .vec or .bin file"] = None
    learned: Annotated[int, NOT_NEGATIVE, "width of learned word vectors, 0 for none"] = 0
    characters: Annotated[int, NOT_NEGATIVE, "width of a character model, 0 for none"] = 0
    tags: Annotated[int, NOT_NEGATIVE, "width of part-of-speech vectors, 0 for none"] = 0
    dropout: Annotated[float, FRACTION, "dropout on the concatenated vectors"] = 0.0


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """The BiLSTM over the word vectors and the optional layer that sees the predicate."""

    layers: Annotated[int, NOT_NEGATIVE, "BiLSTM layers; 0 uses the word vectors directly"] = 3
    width: Annotated[int, AT_LEAST_1, "units per direction"] = 500
    highway: Annotated[
        bool, "mix what every layer reads into its states (authors' code); runs word by word"
    ] = False
    dropout: Annotated[float, FRACTION, "variational dropout on the input of every layer"] = 0.3
    recurrent_dropout: Annotated[
        float,
        FRACTION,
        "variational dropout on the state that a word passes on to the next one; training then "
        "runs word by word",
    ] = 0.0
    output_dropout: Annotated[
        float, FRACTION, "variational dropout on the states of the last layer"
    ] = 0.0
    predicate_width: Annotated[
        int,
        NOT_NEGATIVE,
        "units per direction of one more BiLSTM over words combined with the predicate, 0 for none",
    ] = 0


@dataclass(frozen=True, kw_only=True)
class CapsulesConfig:
    """Word and role capsules (section 4 of the paper) and the global node (section 5)."""

    variant: Annotated[Variant, "the paper's full model or one of its ablations"] = "capsule+global"
    form: Annotated[
        Literal["dense", "factored"],
        "dense: one matrix per role and capsule dimension (eq. 7); factored: C (A x * B p)",
    ] = "dense"
    size: Annotated[int, AT_LEAST_1, "width of a capsule, the paper's K"] = 16
    rank: Annotated[int, AT_LEAST_1, "width of words and predicates when they are combined"] = 128
    iterations: Annotated[int, UP_TO_100, "routing iterations in training"] = 2
    predicate: Annotated[
        Literal["vector", "state"],
        "how the predicate is represented: by its word vector (eq. 2), or by its hidden state as "
        "in the authors' code",
    ] = "state"
    global_from: Annotated[
        Literal["intermediate", "squashed"],
        "input of the global node: eq. 12, or ReLU of the squashed capsules (authors' code)",
    ] = "intermediate"
    global_bias: Annotated[
        bool, "a bias in the global node if its input is squashed; the authors' code has none"
    ] = True
    dropout: Annotated[float, FRACTION, "dropout on words and predicate before the capsules"] = 0.0
    projection_dropout: Annotated[
        float,
        FRACTION,
        "dropout on words and predicate after their projection to `rank`, and on the projected "
        "state that senses are scored with",
    ] = 0.0
    initial_scale: Annotated[
        float,
        POSITIVE,
        "initial scale of the word capsules; 10 suits the small hidden states of a BiLSTM, of "
        "which squashing leaves little otherwise",
    ] = 1.0
    initial_agreement: Annotated[
        float,
        POSITIVE,
        "W of eqs. 11 and 13 starts as this times the identity; at 1 the first iteration decides "
        "nearly everything, at 0.1 later iterations refine it",
    ] = 1.0
    xavier: Annotated[
        bool,
        "start W of eqs. 11 to 13 and W_g as Xavier's uniform numbers (authors' code), not by "
        "initial_agreement",
    ] = False
    routing_chunks: Annotated[
        int,
        AT_LEAST_1,
        "chunks in which training routes the predicates of a batch; more chunks take less memory "
        "and more time",
    ] = 1


@dataclass(frozen=True, kw_only=True)
class FramesConfig:
    """What PropBank's frames say of the roles of a sense, as a term of the role logits."""

    roles: Annotated[
        Literal["none", "first", "every"],
        "add to the logits of the roles what the frames (data.frames) say of them: in the first "
        "routing iteration, or in every one",
    ] = "none"
    descriptions: Annotated[
        int,
        NOT_NEGATIVE,
        "width of the encoded descriptions of roles (data.descriptions), 0 to use none",
    ] = 0


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Everything that decides the shape of the network."""

    tagger: Annotated[bool, "also predict parts of speech, which lemmas of raw text need"] = False
    phrase_width: Annotated[
        int, NOT_NEGATIVE, "width of the scorer of argument phrases, 0 for heads only"
    ] = 0
    embeddings: EmbeddingsConfig = field(default_factory=EmbeddingsConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    capsules: CapsulesConfig = field(default_factory=CapsulesConfig)
    frames: FramesConfig = field(default_factory=FramesConfig)


@dataclass(frozen=True, kw_only=True)
class LossConfig:
    """Weights of the terms of the loss; the weight of the roles is 1."""

    l2: Annotated[float, NOT_NEGATIVE, "lambda of eq. 16"] = 4e-4
    l2_on: Annotated[
        Literal["all", "mix"],
        "what has the L2 term: all trained parameters, or the weights of the mixed layers of ELMo "
        "or a transformer (authors' code)",
    ] = "all"
    uniqueness: Annotated[float, NOT_NEGATIVE, "weight of the uniqueness loss, eta of eq. 18"] = 0.0
    uniqueness_per: Annotated[
        Literal["word", "proposition"],
        "what the uniqueness loss is a mean over; in the authors' code propositions, weighted by "
        "their numbers of words, which makes it some 25 times as large",
    ] = "word"
    intermediate_weight: Annotated[
        float,
        NOT_NEGATIVE,
        "weight of each routing iteration before the last (which weighs 1) in the role and "
        "uniqueness losses; 0, as in the paper, uses the last one only",
    ] = 0.0
    sense: Annotated[float, NOT_NEGATIVE, "weight of the sense loss"] = 1.0
    sense_per: Annotated[
        Literal["predicate", "word"],
        "what the sum of the sense losses is divided by: predicates, or the words of all "
        "propositions, as the role loss (authors' code)",
    ] = "predicate"
    predicates: Annotated[
        float,
        NOT_NEGATIVE,
        "weight of predicate identification; at 0, as in the paper, predicates must be given",
    ] = 1.0
    gumbel: Annotated[bool, "add Gumbel noise to the logits (authors' code)"] = False
    tags: Annotated[float, NOT_NEGATIVE, "weight of the tagger's loss, if there is a tagger"] = 0.1
    phrases: Annotated[float, NOT_NEGATIVE, "weight of the loss of phrases, if they are scored"] = (
        0.05
    )


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Optimization: length, learning rates and batches."""

    from_: Annotated[
        str | None,
        PATH_OR_MODEL,
        "model to start from, a folder or the name of one that ships, such as en: its weights, "
        "roles and senses are kept, those of the corpus added; its settings replace [model]",
    ] = None
    seed: Annotated[int, NOT_NEGATIVE, "seed of all random numbers"] = 1
    epochs: Annotated[int, AT_LEAST_1, "maximum number of epochs"] = 100
    batch_words: Annotated[int, AT_LEAST_1, "maximum words in a batch, including padding"] = 1000
    learning_rate: Annotated[
        float, POSITIVE, "learning rate, except for a fine-tuned transformer"
    ] = 1e-4
    transformer_rate: Annotated[
        float, NOT_NEGATIVE, "learning rate of the top transformer layer"
    ] = 5e-5
    layer_decay: Annotated[float, FACTOR, "factor on the rate of each lower transformer layer"] = (
        1.0
    )
    warmup: Annotated[float, FRACTION, "share of the run in which the rates rise from 0"] = 0.05
    schedule: Annotated[
        Literal["constant", "linear", "cosine"],
        "learning rates after the warm-up: constant, or falling to 0 at the last epoch",
    ] = "constant"
    weight_decay: Annotated[float, NOT_NEGATIVE, "weight decay (AdamW), if loss.l2 is 0"] = 0.0
    ema_decay: Annotated[
        float,
        FRACTION,
        "decay of the exponential moving average of the weights, which is then scored and saved; "
        "0 for none",
    ] = 0.0
    clip_norm: Annotated[float, POSITIVE, "maximum norm of the gradient"] = 5.0
    clip_each: Annotated[
        bool,
        "clip the gradient of each parameter by itself, not all together; keeps fine-tuning at "
        "high rates from collapsing",
    ] = False
    max_spike: Annotated[
        float,
        ABOVE_1_OR_0,
        "after the warm-up, scale down the gradient of a step if its norm is more than this times "
        "the usual one, and lower the rates for a while; 0 for never",
    ] = 0.0
    patience: Annotated[int, AT_LEAST_1, "early stopping: epochs without a better dev F1"] = 20
    score_every: Annotated[
        int, AT_LEAST_1, "epochs from one scoring of dev to the next; the last is always scored"
    ] = 1
    checkpoint_every: Annotated[
        int,
        NOT_NEGATIVE,
        COSMETIC,
        "steps between checkpoints, besides one after every epoch; 0 writes no checkpoints",
    ] = 200
    bf16: Annotated[bool, "mixed precision on a GPU"] = True
    precision: Annotated[
        Literal["full", "half", "compact"],
        COSMETIC,
        "of the saved model: 32-bit floats, 16-bit floats, or 8-bit integers with scales, a "
        "quarter of the size and several times as fast once exported",
    ] = "full"
    cache_states: Annotated[
        bool,
        # Nearly cosmetic: cached states are rounded to half precision.
        COSMETIC,
        "run ELMo or a frozen transformer once per sentence, not once per epoch, and keep its "
        "hidden states in memory (words x layers x width x 2 bytes)",
    ] = False
    workers: Annotated[
        int,
        NOT_NEGATIVE,
        COSMETIC,
        "processes that make batches; 0 uses a thread. 4 to 6 keep a GPU busy with soft labels",
    ] = 0


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """The corpus. Paths in a recipe are relative to the recipe."""

    train: Annotated[str, PATH, "file to train on"]
    dev: Annotated[str, PATH, "file that chooses the best epoch"]
    test: Annotated[
        dict[str, str],
        PATH,
        COSMETIC,
        "files scored once at the end, by the name they have in the model card",
    ] = field(default_factory=dict)
    partial: Annotated[
        list[str],
        PATH,
        "more files to train on, in which only some predicates are annotated",
    ] = field(default_factory=list)
    partial_share: Annotated[
        float, FACTOR, "share of their sentences that an epoch uses, drawn anew in each"
    ] = 1.0
    frames: Annotated[
        str | None,
        PATH,
        "folder of PropBank frame files, or their index: more candidate senses, meanings of roles",
    ] = None
    descriptions: Annotated[
        str | None,
        PATH,
        "encoded descriptions of roles, a file made by `python -m teachers.descriptions`",
    ] = None
    name: Annotated[str, COSMETIC, "name of the corpus, for the model card"] = ""
    language: Annotated[str, "language code, for splitting raw text; en learns a lemmatizer"] = ""
    license: Annotated[str, COSMETIC, "license of the corpus, for the model card"] = ""


@dataclass(frozen=True, kw_only=True)
class DistillConfig:
    """Learning from the soft labels that teachers gave to text, besides the corpus."""

    shards: Annotated[str | None, PATH, "folder made by `python -m teachers`"] = None
    gold: Annotated[
        int, AT_LEAST_1, "how often an epoch reads the corpus; it reads the soft labels once"
    ] = 1
    weight: Annotated[
        float, POSITIVE, "weight of the loss of a batch with soft labels; one of the corpus has 1"
    ] = 1.0
    temperature: Annotated[
        float, POSITIVE, "temperature of the teachers' probabilities: above 1 softer, below sharper"
    ] = 1.0


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All settings of a training run."""

    data: DataConfig
    model: ModelConfig = field(default_factory=ModelConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    distill: DistillConfig = field(default_factory=DistillConfig)
