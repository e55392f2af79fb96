"""A client that openapi-python-client generates from /openapi.json talks to the server."""

import os
import subprocess

import pytest

from tests.helpers.serving import running

PROGRAM = """
import sys
from client import AuthenticatedClient
from client.api.default import health, label, ready
from client.models import Error, TextRequest, TextsRequest

client = AuthenticatedClient(sys.argv[1], token="right", raise_on_unexpected_status=True)
answer = label.sync(client=client, body=TextRequest(text="Mira sold her bicycle.", at=[5]))
[sentence] = answer.sentences
[sold] = sentence.propositions
print(sentence.words, sold.sense)
for argument in sold.arguments:
    print(argument.role, argument.meaning, argument.phrase.text, argument.probability > 0.5)
several = label.sync(client=client, body=TextsRequest(texts=["Dogs bark.", ""], threshold=0.5))
print([[each.text for each in result.sentences] for result in several.results])
print(health.sync(client=client).model == answer.model == several.model)
print(ready.sync(client=client).status)
refused = label.sync(client=client, body=TextRequest(text="x", threshold=2))
print(isinstance(refused, Error), refused.detail)
stranger = AuthenticatedClient(sys.argv[1], token="wrong")
print(label.sync(client=stranger, body=TextRequest(text="x")).detail)
"""

PRINTED = """\
['Mira', 'sold', 'her', 'bicycle', '.'] sell.01
A0 Agent Mira True
A1 Theme her bicycle True
[['Dogs bark.'], []]
True
ready
True threshold must be at most 1; you sent 2
this server needs its token: send the header Authorization: Bearer TOKEN
"""


@pytest.mark.slow
def test_generated_client(tools, tmp_path):
    with running(tmp_path, CAPSRL_TOKEN="right") as server:
        subprocess.run(
            [
                *(tools / "openapi-python-client", "generate", "--fail-on-warning"),
                *("--meta", "none", "--url", f"{server.url}openapi.json"),
                *("--output-path", tmp_path / "client"),
            ],
            check=True,
            env=os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
        )
        done = subprocess.run(
            [tools / "python", "-c", PROGRAM, server.url.rstrip("/")],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
        )
    assert done.stderr == ""
    assert done.stdout == PRINTED
