"""Bulk runs in S3, against the server of moto (`pip install s3fs 'moto[server]'`)."""

import csv
import gzip
import io
import json
import logging
import os
import random
import time
from urllib.request import Request, urlopen

import pytest

from tests.helpers.bulk_runs import kill, kill_all, make_texts, outputs, start, workers

boto3 = pytest.importorskip("boto3")
moto_server = pytest.importorskip("moto.server")
pytest.importorskip("s3fs")
pytestmark = pytest.mark.slow

N_SHARDS = 40  # of 50 rows each
SETTINGS = ("--text-column", "body", "--to", "parquet", "--shard-size", 50, "--workers", 2)


class Store:
    """A server of S3 on this machine with one bucket; it keeps the objects while it is stopped."""

    def __init__(self):
        self.port = 0
        self.start()
        url = f"http://127.0.0.1:{self.port}"
        self.env = {
            "AWS_ENDPOINT_URL_S3": url,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        self.client = boto3.client(
            "s3",
            endpoint_url=url,
            aws_access_key_id="key",
            aws_secret_access_key="secret",
            region_name="us-east-1",
        )
        urlopen(Request(f"{url}/moto-api/reset", method="POST")).close()  # of the test before
        self.client.create_bucket(Bucket="bucket")

    def start(self):
        self.server = moto_server.ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self.server.start()
        self.port = self.server.get_host_and_port()[1]

    def stop(self):
        self.server.stop()

    def put(self, key, data):
        self.client.put_object(Bucket="bucket", Key=key, Body=data)

    def names(self, prefix):
        """The keys with a prefix, without it."""
        pages = self.client.get_paginator("list_objects_v2").paginate(
            Bucket="bucket", Prefix=prefix
        )
        return [each["Key"][len(prefix) :] for page in pages for each in page.get("Contents", [])]

    def data(self, folder):
        """What a run wrote: name -> bytes."""
        return {
            f"data/{name}": self.client.get_object(Bucket="bucket", Key=f"{folder}/data/{name}")[
                "Body"
            ].read()
            for name in self.names(f"{folder}/data/")
        }


@pytest.fixture
def store(monkeypatch):
    made = Store()
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    yield made
    made.stop()


@pytest.fixture
def mark(request):
    """A name for the processes of a run, all of which end with the test."""
    name = f"{os.getpid()}-{request.node.name}"
    yield name
    kill_all(name)


@pytest.fixture
def calm(store, tmp_path, mark):
    """The output of an undisturbed run over files on a disk, which are also in the bucket."""
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [*enumerate(make_texts(50 * N_SHARDS))]
    for name, part in (("a.csv", rows[:1000]), ("b.csv.gz", rows[1000:])):
        text = io.StringIO(newline="")
        csv.writer(text).writerows([("id", "body"), *part])
        data = text.getvalue().encode()
        (folder / name).write_bytes(gzip.compress(data, mtime=0) if ".gz" in name else data)
        store.put(f"in/{name}", (folder / name).read_bytes())
    run(mark, folder, tmp_path / "calm")
    found = outputs(tmp_path / "calm")
    del found["plan.jsonl"]  # which has the paths of the inputs
    assert len(found) == N_SHARDS
    return found


def run(mark, source, target, *, code=0):
    """Run to the end; gives what was written to stderr."""
    process = start(mark, source, target, *SETTINGS)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == code, errors
    return errors


def wait_for_more(store, process):
    """Wait until another shard is done."""
    before = len(store.names("out/data/"))
    end = time.monotonic() + 120
    while len(store.names("out/data/")) <= before:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.2)


def test_a_run_that_is_killed_writes_what_a_run_on_a_disk_writes(store, calm, mark, caplog):
    chooser = random.Random(3)
    process = start(mark, "s3://bucket/in/*.csv*", "s3://bucket/out", *SETTINGS)
    for kind in ("worker", "driver", "worker", "group"):
        wait_for_more(store, process)
        time.sleep(chooser.uniform(0, 0.4))
        alive = workers(mark)
        if kind == "worker" and alive:
            kill(chooser.choice(alive))
            continue
        if kind == "group":
            kill_all(mark)
        process.kill()
        process.communicate()
        process = start(mark, "s3://bucket/in/*.csv*", "s3://bucket/out", *SETTINGS)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert store.data("out") == calm
    status = json.loads(
        store.client.get_object(Bucket="bucket", Key="out/status.json")["Body"].read()
    )
    assert (status["state"], status["done"], status["documents"]) == ("finished", N_SHARDS, 2000)

    # To find that all is done takes no request for each shard.
    caplog.set_level(logging.INFO, logger="werkzeug")
    caplog.clear()
    assert f"{N_SHARDS} of {N_SHARDS} shards" in run(
        mark, "s3://bucket/in/*.csv*", "s3://bucket/out"
    )
    requests = [each.getMessage() for each in caplog.records if each.name == "werkzeug"]
    assert 5 < len(requests) < 30, requests
    assert not any("PUT /bucket/out/data" in request for request in requests)


def test_a_store_that_cannot_be_reached_loses_nothing(store, calm, mark):
    process = start(mark, "s3://bucket/in", "s3://bucket/out", *SETTINGS)
    wait_for_more(store, process)
    store.stop()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "error: s3://bucket/" in errors and "cannot be accessed: Could not connect" in errors
    assert "Traceback" not in errors
    store.start()
    assert 0 < len(store.names("out/data/")) < N_SHARDS
    assert "2,000 documents" in run(mark, "s3://bucket/in", "s3://bucket/out")
    assert store.data("out") == calm


def test_mistakes(store, mark):
    store.put("in/a.csv", b"id,body\n1,We left.\n")
    assert "error: s3://bucket/in/b.csv: cannot be read: No such file" in run(
        mark, "s3://bucket/in/b.csv", "s3://bucket/out", code=2
    )
    assert "plan.jsonl: cannot be written: The specified bucket does not exist" in run(
        mark, "s3://bucket/in/a.csv", "s3://none/out", code=2
    )
