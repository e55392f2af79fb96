"""The examples of Ray clusters are what Ray's own schema allows."""

import json
from pathlib import Path

import jsonschema
import pytest
import ray
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = sorted((ROOT / "examples" / "ray").glob("*.yaml"))
SCHEMA = json.loads((Path(ray.__file__).parent / "autoscaler" / "ray-schema.json").read_text())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_ray_knows_every_key(file):
    config = yaml.safe_load(file.read_text())
    jsonschema.validate(config, SCHEMA)
    assert config["head_node_type"] in config["available_node_types"]
    installs = [command for command in config["setup_commands"] if "capsrl[bulk]" in command]
    mounted = list(config["file_mounts"])
    assert len(installs) == 1 and f"file://{mounted[0]}" in installs[0]
    starts = config["head_start_ray_commands"][1], config["worker_start_ray_commands"][1]
    assert all("--disable-usage-stats" in command for command in starts)


def test_two_clouds():
    assert [file.stem for file in FILES] == ["aws", "gcp"]


def test_wrong_keys_are_found():
    config = yaml.safe_load(FILES[0].read_text()) | {"max_worker": 3}
    with pytest.raises(jsonschema.ValidationError, match="max_worker"):
        jsonschema.validate(config, SCHEMA)
