"""Tiny stand-ins for the licensed data: CoNLL-2009, ELMo and fastText files under their names.

The sentences are our own; columns, labels and folders are those of the releases
(docs/paper.md).
"""

import itertools
import json
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from capsrl.network.embeddings.vector_files import MAGIC

h5py = pytest.importorskip("h5py")
ELMO = "elmo_2x4096_512_2048cnn_2xhighway"
OPTIONS = {
    "lstm": {
        "use_skip_connections": True,
        "projection_dim": 4,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 8,
        "n_layers": 2,
    },
    "char_cnn": {
        "activation": "relu",
        "filters": [[1, 3], [2, 5]],
        "n_highway": 2,
        "embedding": {"dim": 4},
        "n_characters": 262,
        "max_characters_per_token": 50,
    },
}
WIDTH = 6  # of the fastText vectors, 300 in the released files
BUCKETS = 11


@dataclass(frozen=True)
class Language:
    """A tiny grammar: subjects x verbs x objects.

    order  the sentence; S, V and O are replaced, other words stay
    nouns  whether nouns are predicates too, with their lemma as sense, as in Czech
    ood    whether there is an out-of-domain file
    """

    code: str
    order: str
    subjects: str
    verbs: str  # form=lemma=sense
    objects: str
    roles: tuple[str, str]
    tags: str = "N V P"  # of nouns, verbs and all else
    nouns: bool = False
    ood: bool = False


LANGUAGES = {
    "Chinese": Language(
        "zh",
        "S 已 V O 。",
        "王明 公司 政府",
        "购买=购买=购买.01 出售=出售=出售.01 检查=检查=检查.02",
        "房屋 汽车 书籍",
        ("A0", "A1"),
        tags="NN VV AD",
    ),
    "Catalan": Language(
        "ca",
        "S V un O .",
        "Pere Anna Mercè",
        "compra=comprar=comprar.a32 ven=vendre=vendre.a32 obre=obrir=obrir.a1",
        "cotxe llibre café",
        ("arg0-agt", "arg1-pat"),
        tags="n v d",
    ),
    "Czech": Language(
        "cs",
        "S V včera O .",
        "Petr Jana Řehoř",
        "koupil=koupit=v-w1543f1 prodal=prodat=v-w4896f1 viděl=vidět=v-w7622f2",
        "dům knihu židli",
        ("ACT", "PAT"),
        nouns=True,
        ood=True,
    ),
    "German": Language(
        "de",
        "S V das O .",
        "Anna Jörg Maria",
        "kauft=kaufen=kaufen.1 verkauft=verkaufen=verkaufen.1 nennt=nennen=nennen.2",
        "Haus Buch Gemälde",
        ("A0", "A1"),
        tags="NN VVFIN ART",
        ood=True,
    ),
    "Spanish": Language(
        "es",
        "S V un O .",
        "_ Ana Íñigo",  # `_` stands for a subject that was left out
        "compra=comprar=comprar.a32 vende=vender=vender.a32 abre=abrir=abrir.a1",
        "coche libro piano",
        ("arg0-agt", "arg1-pat"),
        tags="n v d",
    ),
    "Japanese": Language(
        "ja",
        "S が O を V 。",
        "太郎 花子 先生",
        "買った=買う=買う 売った=売る=売る 見た=見る=見る",
        "家 本 車",
        ("GA", "WO"),
        tags="名詞 動詞 助詞",
    ),
}


def write_release(folder: Path, english: Path) -> None:
    """The corpora of all seven languages; the English sentences are those of `english`."""
    train, dev = ((english / f"{name}.conll09").read_text("utf-8") for name in ("train", "dev"))
    # Figure 6 leaves out what occurs less than 51 times in dev.
    _write(folder, "English", train, train * 3, dev, ood=dev)
    for name, language in LANGUAGES.items():
        blocks = _blocks(language)
        parts = "".join(blocks), "".join(blocks[::3]), "".join(blocks[1::3])
        _write(folder, name, *parts, ood="".join(blocks[2::3]) if language.ood else None)


def _write(folder: Path, name: str, train: str, dev: str, test: str, *, ood: str | None) -> None:
    parts = {
        f"{name}-train": train,
        f"{name}-development": dev,
        f"evaluation-{name}": test,
        f"evaluation-{name}-ood": ood,
    }
    for part, text in parts.items():
        if text is not None:
            path = folder / f"CoNLL2009-ST-{name}" / f"CoNLL2009-ST-{part}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _blocks(language: Language) -> list[str]:
    choices = (language.subjects.split(), language.verbs.split(), language.objects.split())
    blocks = [_block(language, *choice) for choice in itertools.product(*choices)]
    noun, tag = choices[-1][0], language.tags.split()[0]
    row = ["1", noun, noun, noun, tag, tag, "_", "_", "0", "0", "ROOT", "ROOT", "_", "_"]
    return [*blocks, "\t".join(row) + "\n\n"]  # like many real sentences, without a predicate


def _block(language: Language, subject: str, verb: str, thing: str) -> str:
    form, lemma, sense = verb.split("=")
    noun, verbal, other = language.tags.split()
    agent, patient = language.roles
    slots = language.order.split()
    root = slots.index("V") + 1
    # slot -> form, lemma, tag, sense, role of the verb
    words = {
        "S": (subject, subject, noun, subject, agent),
        "V": (form, lemma, verbal, sense, "_"),
        "O": (thing, thing, noun, thing, patient),
    }
    filled = [words.get(slot, (slot, slot, other, "_", "_")) for slot in slots]
    named = "SVO" if language.nouns else "V"
    predicates = [slot for slot in slots if slot in named]
    rows = []
    for i, (slot, (form, lemma, tag, sense, role)) in enumerate(
        zip(slots, filled, strict=True), start=1
    ):
        head, relation = ("0", "ROOT") if i == root else (str(root), "dep")
        row = [str(i), form, lemma, lemma, tag, tag, "_", "_", head, head, relation, relation]
        row += ["Y", sense] if slot in predicates else ["_", "_"]
        rows.append("\t".join(row + [role if one == "V" else "_" for one in predicates]) + "\n")
    return "".join(rows) + "\n"


def write_elmo(folder: Path) -> None:
    """A random model in the layout of the released ELMo."""
    random = np.random.default_rng(1)
    lstm, cnn = OPTIONS["lstm"], OPTIONS["char_cnn"]
    letters, width, cells = cnn["embedding"]["dim"], lstm["projection_dim"], lstm["dim"]
    filters = sum(n for _, n in cnn["filters"])
    shapes = {"char_embed": (261, letters)}
    for k, (length, n) in enumerate(cnn["filters"]):
        shapes |= {f"CNN/W_cnn_{k}": (1, length, letters, n), f"CNN/b_cnn_{k}": (n,)}
    for k, part in itertools.product(range(cnn["n_highway"]), ("carry", "transform")):
        shapes[f"CNN_high_{k}/W_{part}"] = (filters, filters)
        shapes[f"CNN_high_{k}/b_{part}"] = (filters,)
    shapes |= {"CNN_proj/W_proj": (filters, width), "CNN_proj/b_proj": (width,)}
    for direction, layer in itertools.product(range(2), range(lstm["n_layers"])):
        cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
        shapes |= {f"{cell}/W_0": (2 * width, 4 * cells), f"{cell}/B": (4 * cells,)}
        shapes[f"{cell}/W_P_0"] = (cells, width)
    folder.mkdir(parents=True)
    (folder / f"{ELMO}_options.json").write_text(json.dumps(OPTIONS))
    with h5py.File(folder / f"{ELMO}_weights.hdf5", "w") as file:
        for name, shape in shapes.items():
            file[name] = random.normal(0, 0.5, shape).astype(np.float32)


def write_fasttext(folder: Path) -> None:
    """cc.XX.300.bin of every language but English: some of its words, and subwords."""
    folder.mkdir(parents=True)
    for language in LANGUAGES.values():
        words = f"</s> {language.subjects} {language.objects}".split()
        _write_bin(folder / f"cc.{language.code}.300.bin", words)


def _write_bin(path: Path, words: list[str]) -> None:
    random = np.random.default_rng(2)
    # width, window, epochs, least count, negatives, loss, model, buckets, subwords, rate of updates
    arguments = struct.pack("<12id", WIDTH, 5, 5, 1, 10, 1, 2, 1, BUCKETS, 5, 5, 100, 1e-4)
    parts = [struct.pack("<ii", MAGIC, 12), arguments]
    parts.append(struct.pack("<iiiqq", len(words), len(words), 0, 99, -1))
    parts += [word.encode() + b"\0" + struct.pack("<qb", 9, 0) for word in words]
    for n_rows in (len(words) + BUCKETS, len(words)):  # the input matrix, then the output matrix
        rows = random.normal(0, 0.5, (n_rows, WIDTH)).astype("<f4")
        parts.append(struct.pack("<?qq", False, *rows.shape) + rows.tobytes())
    path.write_bytes(b"".join(parts))
