"""What the frames say of roles, in a graph against that of the network."""

import numpy as np
import pytest
import torch

from tests.helpers.tiny_networks import make_config, make_labeler

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.role_frames import frame_logits  # noqa: E402
from tests.helpers.graphs import run_graph  # noqa: E402


@pytest.mark.parametrize("width", [0, 3])
@pytest.mark.parametrize("n_candidates", [1, 2, 5])
def test_same_as_torch(width, n_candidates, tmp_path):
    """One candidate, fewer than three and more; the last predicate has none."""
    config = make_config(rank=7, frames={"roles": "first", "descriptions": width})
    frames = make_labeler(config).network.frames
    torch.manual_seed(2)
    senses, joint = torch.randn(3, n_candidates), torch.randn(3, 4, 7)
    candidates = torch.randint(len(frames.of_role), (3, n_candidates))
    counts = torch.tensor([n_candidates, 1, 0])
    senses = senses.masked_fill(torch.arange(n_candidates) >= counts[:, None], -1e9)
    theirs = frames.logits(joint, frames(senses, candidates, counts))
    given = {"joint": joint, "senses": senses, "candidates": candidates, "n_candidates": counts}
    ours = run_graph(
        tmp_path / "model",
        {f"frames.{name}": value for name, value in frames.state_dict().items()},
        lambda builder: {"logits": frame_logits(builder, "joint", "senses")},
        **{name: value.numpy() for name, value in given.items()},
    )["logits"]
    np.testing.assert_allclose(ours, theirs.detach().numpy(), atol=1e-5)
    assert theirs.abs().max() > 1
