"""Encoders and networks small enough to be made in every test."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from capsrl.config import (
    CapsulesConfig,
    EmbeddingsConfig,
    EncoderConfig,
    FramesConfig,
    ModelConfig,
)
from capsrl.frames.descriptions import NO_DESCRIPTIONS
from capsrl.frames.index import NO_FRAMES
from capsrl.labeler import Labeler
from capsrl.network.backend import TorchBackend
from capsrl.network.build import make_network
from capsrl.network.loss import compute_loss
from capsrl.predict.inventory import build_inventory
from tests.helpers.tiny_sentences import (  # noqa: F401 - for the tests that import both
    CALIBRATION,
    DESCRIPTIONS,
    FRAMES,
    OLD_MAN,
    SENTENCES,
    UNSEEN,
    apply_calibration,
    assert_same_answers,
    bare,
    blind,
    edit_json,
    sentence,
    with_phrases,
)

# Rolesets of most senses of SENTENCES: go.01 is unknown, bark.01 has no A1.
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def write_tokenizer(folder, *, special=("[CLS]", "[SEP]", "[UNK]")):
    """A tokenizer whose subwords are letters; other characters make a word unknown."""
    opening, closing, unknown = special
    vocab = [unknown, opening, closing, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    ids = {piece: i for i, piece in enumerate(vocab)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{opening} $A {closing}", special_tokens=[(opening, 1), (closing, 2)]
    )
    Path(folder).mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(Path(folder) / "tokenizer.json"))
    return len(vocab)


def write_encoder(folder, kind="Bert", *, limit=64, **settings):
    """Write a random encoder of two layers in the layout of Hugging Face and return the model."""
    import transformers

    n_subwords = write_tokenizer(folder)
    torch.manual_seed(3)
    sizes = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 24,
    }
    if kind == "DistilBert":
        sizes = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24}
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=n_subwords, max_position_embeddings=limit, **{**sizes, **settings}
    )
    model = getattr(transformers, f"{kind}Model")(config).eval()
    for parameter in model.parameters():  # zeros and ones of a new model could hide mistakes
        parameter.data += 0.2 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    return model


def make_config(*, embeddings=None, encoder=None, phrase_width=0, frames=None, **capsules):
    """A configuration with small sizes and the changes of a test."""
    embeddings = {"learned": 10, "characters": 6} if embeddings is None else embeddings
    encoder = {"layers": 1, "width": 8, "dropout": 0.0} | (encoder or {})
    return ModelConfig(
        phrase_width=phrase_width,
        embeddings=EmbeddingsConfig(**embeddings),
        encoder=EncoderConfig(**encoder),
        capsules=CapsulesConfig(**({"size": 4, "rank": 12} | capsules)),
        frames=FramesConfig(**(frames or {})),
    )


def make_labeler(config=None, *, seed=1):
    """An untrained network whose predictions are far from uniform, so that mistakes show."""
    config = config or make_config()
    torch.manual_seed(seed)
    frames = NO_FRAMES if config.frames.roles == "none" else FRAMES
    network = make_network(
        config,
        build_inventory(SENTENCES, frames=frames),
        descriptions=DESCRIPTIONS if config.frames.descriptions else NO_DESCRIPTIONS,
    )
    with torch.no_grad():
        batch = network.collate([network.index(s) for s in SENTENCES])
        scale = 1 / network.eval().encode(batch)[batch.mask].std()
        network.forms.of_word.weight *= scale
        network.forms.of_predicate.weight *= scale
        network.forms.weight *= 2
        network.forms.weight[0] *= 0.3  # NO_ROLE must not win everywhere
        network.finder.score.weight.normal_()
        if network.spans is not None:
            network.spans.of_state.weight *= 8 * scale
        for weight in network.frames.parameters() if network.frames is not None else ():
            weight.normal_()
    return Labeler(network, config)


def make_teacher(config=None, *, seed=1):
    """Such a network on the CPU."""
    return TorchBackend(make_labeler(config, seed=seed).network, "cpu")


def compute_test_loss(output, batch, **changes):
    """The loss with the default weights of a recipe and the changes of a test."""
    weights = {
        "sense_weight": 1.0,
        "predicate_weight": 1.0,
        "tag_weight": 0.1,
        "phrase_weight": 0.5,
        "uniqueness_weight": 0.0,
        "intermediate_weight": 0.0,
        "gumbel": False,
    }
    return compute_loss(output, batch, **(weights | changes))


# Different for every kind of answer, and for some groups.
