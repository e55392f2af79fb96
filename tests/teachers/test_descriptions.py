import numpy as np
import torch
from transformers import BertTokenizerFast

from capsrl.frames.descriptions import DEFINITION, Descriptions
from capsrl.frames.index import FrameIndex, FrameRole, Roleset
from teachers.descriptions import LENGTH, encode_descriptions, main
from tests.helpers.tiny_networks import write_encoder

FRAMES = FrameIndex.from_rolesets(
    [
        Roleset(
            "sell.01",
            roles=(
                FrameRole("A0", description="seller"),
                FrameRole("A1", description="thing sold"),
            ),
            definition="commerce",
        ),
        Roleset("sell_out.02", roles=(FrameRole("A0", description="seller"), FrameRole("A1"))),
        Roleset("go.01"),
    ]
)


def make_encoder(folder):
    model = write_encoder(folder)
    tokenizer = BertTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="[UNK]")
    tokenizer.save_pretrained(folder)
    return model, tokenizer


def test_a_text_is_the_mean_of_its_states(tmp_path):
    model, tokenizer = make_encoder(tmp_path)
    found = encode_descriptions(FRAMES, tmp_path)
    rows = found.rows
    assert rows["sell.01"]["A0"] == rows["sell_out.02"]["A0"]  # the same words
    assert set(rows["sell_out.02"]) == {DEFINITION, "A0"}
    texts = ["seller", "thing sold"]
    wanted = []
    for text in texts:
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        mean = states.mean(0).numpy()
        wanted.append(mean / np.linalg.norm(mean))
    # Vectors are centered and scaled: their differences keep their direction.
    ours = found.vectors[rows["sell.01"]["A0"]] - found.vectors[rows["sell.01"]["A1"]]
    theirs = wanted[0] - wanted[1]
    cosine = ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs)
    assert cosine > 0.9999
    assert abs(np.linalg.norm(found.vectors, axis=1).mean() - LENGTH) < 1e-4


def test_narrow_vectors_keep_the_largest_differences(tmp_path):
    make_encoder(tmp_path)
    whole = encode_descriptions(FRAMES, tmp_path).vectors
    narrow = encode_descriptions(FRAMES, tmp_path, width=4).vectors  # five texts: rank 4
    assert narrow.shape == (5, 4)
    np.testing.assert_allclose(narrow @ narrow.T, whole @ whole.T, atol=1e-2)
    assert encode_descriptions(FRAMES, tmp_path, width=2).width == 2


def test_command(tmp_path, capsys):
    make_encoder(tmp_path / "encoder")
    FRAMES.save(tmp_path / "frames.tsv")
    folders = [str(tmp_path / name) for name in ("frames.tsv", "encoder", "out.safetensors")]
    assert main([*folders, "--width", "3"]) == 0
    assert "5 texts of 3 rolesets" in capsys.readouterr().err
    assert Descriptions.load(tmp_path / "out.safetensors").width == 3
    assert main([str(tmp_path / "none"), *folders[1:]]) == 2
    assert "none" in capsys.readouterr().err
    assert main([folders[0], str(tmp_path), folders[2]]) == 2
    assert f"{tmp_path}: no encoder here" in capsys.readouterr().err
