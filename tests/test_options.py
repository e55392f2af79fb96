"""The options of labeling, and the device and threads it computes with."""

import dataclasses
import os
from typing import get_type_hints

import pytest
import torch

import capsrl
from capsrl import device
from capsrl.errors import ConfigError
from capsrl.options import OptionKeywords, Options, make_options


def test_keywords_are_the_fields():
    assert get_type_hints(OptionKeywords) == get_type_hints(Options)
    assert all(field.metadata["help"] for field in dataclasses.fields(Options))


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("predicates", "given", "auto, marked or found"),
        ("pos", "verb", "a list of verb, noun, adjective"),
        ("pos", ["adverb"], "a list of verb, noun, adjective"),
        ("pos", [], "a list of verb, noun, adjective"),
        ("iterations", 0, "an integer of at least 1"),
        ("iterations", 2.0, "an integer of at least 1"),
        ("iterations", True, "an integer of at least 1"),
        ("threshold", -0.1, "a number from 0 to 1"),
        ("threshold", float("nan"), "a number from 0 to 1"),
        ("threshold", "0.5", "a number from 0 to 1"),
        ("sense_threshold", 1.1, "a number from 0 to 1"),
        ("proposition_threshold", None, "a number from 0 to 1"),
        ("trace", 1, "True or False"),
        ("html", "yes", "True or False"),
        ("one_sentence_per_line", None, "True or False"),
        ("phrases", None, "True or False"),
        ("raw", 0, "True or False"),
    ],
)
def test_bad_values_are_refused(option, value, expected):
    with pytest.raises(ConfigError) as refused:
        Options(**{option: value})
    assert str(refused.value) == f"{option}: expected {expected}, got {value!r}"


def test_options_are_hashable_and_normalized():
    assert Options(pos=["noun", "verb", "noun"]).pos == ("verb", "noun")
    assert hash(Options(pos={"verb"})) == hash(Options(pos=["verb"]))
    assert make_options(Options(trace=True), threshold=0.5) == Options(trace=True, threshold=0.5)


def test_the_labeler_is_a_public_name():
    from capsrl.labeler import Labeler

    assert capsrl.Labeler is Labeler
    with pytest.raises(AttributeError, match="module 'capsrl' has no attribute 'Labeller'"):
        _ = capsrl.Labeller


def test_find_device():
    assert device.find_device("cpu") == torch.device("cpu")
    assert device.find_device() == torch.device("cuda" if torch.cuda.is_available() else "cpu")
    n_gpus = torch.cuda.device_count()
    with pytest.raises(ConfigError, match=f"which has {n_gpus}, got cuda:{n_gpus}"):
        device.find_device(f"cuda:{n_gpus}")
    for name in ("tpu", "meta", "cuda:x"):
        with pytest.raises(ConfigError, match=f"device: expected cpu, cuda or cuda:N, got {name}"):
            device.find_device(name)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": "nonsense\n"}, None),
        ({}, None),
    ],
)
def test_cores_respect_the_quota_of_a_container(files, cores, tmp_path, monkeypatch):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(device, "_CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    assert device.available_cores() == (cores or 8)


@pytest.mark.parametrize(("load", "threads"), [(0.5, 8), (8.0, 8), (13.0, 1)])
def test_a_busy_machine_gets_one_thread(load, threads, tmp_path, monkeypatch):
    monkeypatch.setattr(device, "_CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert device.default_threads() == threads


def test_threads_are_limited_for_a_while():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with device.limited_threads(1):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
        with device.limited_threads(8):  # never more than the caller has allowed
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
