import dataclasses

import numpy as np
import pytest
import torch

import capsrl
from capsrl.errors import ConfigError
from capsrl.network import backend as torch_backend
from capsrl.network.backend import (
    IN_FLIGHT,
    THREADED_WORDS,
    TorchBackend,
    find_device,
    limited_threads,
)
from capsrl.predict import decode
from capsrl.sentence import Sentence
from tests.helpers.tiny_networks import make_labeler

TEXTS = [
    "Mira sold her old bicycle to a neighbor last week.",
    "The committee that met on Monday promised us a report.",
    "Did anyone hear the phone ring while we were eating?",
    "It rained.",
    "Snow had closed the pass, so the driver turned back and waited in the village.",
]


def test_most_probable_is_that_of_numpy():
    logits = torch.from_numpy(30 * np.random.default_rng(2).normal(size=(5, 7, 9))).float()
    probs, ids = torch_backend.most_probable_class(logits)
    expected_probs, expected_ids = decode.most_probable(logits.numpy())
    np.testing.assert_array_equal(ids.numpy(), expected_ids)
    np.testing.assert_allclose(probs.numpy(), expected_probs, rtol=1e-6)
    assert probs.dtype == torch.float64


def test_find_device():
    assert find_device("cpu") == torch.device("cpu")
    assert find_device() == torch.device("cuda" if torch.cuda.is_available() else "cpu")
    n_gpus = torch.cuda.device_count()
    with pytest.raises(ConfigError, match=f"no cuda:{n_gpus}; this machine has {n_gpus} GPUs"):
        find_device(f"cuda:{n_gpus}")
    for name in ("tpu", "meta", "cuda:x"):
        with pytest.raises(ConfigError, match=f"device: expected cpu, cuda or cuda:N, got {name}"):
            find_device(name)


def test_threads_are_limited_for_a_while():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with limited_threads(1):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
        with limited_threads(8):  # never more than the caller has allowed
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_small_batches_get_one_thread():
    backend = TorchBackend(make_labeler().network, "cpu")
    before = torch.get_num_threads()
    for n_words, expected in ((THREADED_WORDS - 1, 1), (THREADED_WORDS, before)):
        with backend.prepare(n_words, threads=before):
            assert torch.get_num_threads() == expected
    assert torch.get_num_threads() == before


def without_probabilities(sentences):
    return [
        (
            s.tags,
            [
                (p.predicate, p.sense, [(a.role, a.word, a.phrase) for a in p.arguments])
                for p in s.propositions
            ],
        )
        for s in sentences
    ]


@pytest.mark.gpu
def test_a_gpu_gives_the_answers_of_the_cpu():
    on_gpu, on_cpu = (capsrl.load(device=each, runtime="torch") for each in ("cuda", "cpu"))
    found = [sentence for text in on_gpu.label_many(TEXTS) for sentence in text]
    expected = [sentence for text in on_cpu.label_many(TEXTS) for sentence in text]
    assert without_probabilities(found) == without_probabilities(expected)
    probs, others = (
        [a.probability for s in each for p in s.propositions for a in p.arguments]
        for each in (found, expected)
    )
    assert probs == pytest.approx(others, abs=0.05)  # bfloat16 has three digits


@pytest.mark.gpu
def test_many_batches_on_a_gpu_keep_their_order():
    labeler = capsrl.load(device="cuda", runtime="torch")
    words = [tuple(text[:-1].split()) + (".",) for text in TEXTS]
    sentences = [Sentence(words[n % len(words)], id=str(n)) for n in range(2000)]
    found = list(labeler.label_sentences(sentences, batch_size=7))
    assert [s.id for s in found] == [s.id for s in sentences]
    alone = {s.words: s for s in labeler.label_sentences([Sentence(each) for each in words])}
    for sentence in found:
        same = dataclasses.replace(alone[sentence.words], id=sentence.id)
        assert without_probabilities([sentence]) == without_probabilities([same])


@pytest.mark.gpu
def test_after_an_error_in_a_batch_on_a_gpu_the_next_is_labeled():
    backend = TorchBackend(make_labeler().network, "cuda")
    default = torch.cuda.current_stream()
    for _ in range(IN_FLIGHT + 1):  # a stream that was not put back would be missing
        with pytest.raises(ZeroDivisionError), backend.prepare(100, threads=1):
            assert torch.cuda.current_stream() != default
            raise ZeroDivisionError
    assert torch.cuda.current_stream() == default
