"""Convert UD_English-EWT and propbank-release to the English Web Treebank with propositions.

Words, lemmas, tags and trees come from the UD release; predicates, senses and roles from PropBank's
annotation of the original treebank. The two are aligned by tags, since PropBank publishes no words,
and each span becomes its head in the UD tree; the span itself is kept as the phrase.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from capsrl.errors import DataError
from capsrl.files.opening import read_lines
from capsrl.formats.conllu import read_conllu
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from corpora import find_file, without_auxiliaries
from corpora.align import align_tags
from corpora.gold_skel import Skeleton, SkeletonProposition, read_gold_skel
from corpora.heads import Tree, span_head

_SKELETONS = "data/google/ewt"
_NEW_DOCUMENT = "# newdoc id = "

Place = tuple[int, int]  # numbers of a sentence in its document and of a word in that sentence


def read_ewt(
    ud: str | Path, propbank: str | Path, split: str, *, left_out: Counter[str]
) -> Iterator[Sentence]:
    """Yield the sentences of a split (train, dev, test), one document at a time.

    ud        a release of UD_English-EWT: en_ewt-ud-train.conllu and so on
    propbank  a checkout of propbank-release, which has data/google/ewt
    left_out  gets the number of what was left out: documents that PropBank lacks, auxiliaries
              (be.03, have.01, do.01), and what cannot be aligned after the corrections in UD
    A span becomes its head (`heads.span_head`).
    Raises DataError immediately for a folder without the expected files, and while reading, naming
    file and line.
    """
    words = find_file(ud, f"en_ewt-ud-{split}.conllu", holds="a release of UD_English-EWT")
    return _read(words, find_skeletons(propbank), left_out)


def find_skeletons(propbank: str | Path) -> dict[str, Path]:
    """Return the skeleton file of each document of the treebank, by its name in UD."""
    files = sorted(Path(propbank, _SKELETONS).glob("*/*/*.xml.gold_skel"))
    if not files:
        raise DataError(
            f"{propbank}: has no {_SKELETONS}/*/*/*.xml.gold_skel; it should be a checkout of "
            "propbank-release"
        )
    # data/google/ewt/reviews/00/001325.xml.gold_skel is the document reviews-001325.
    return {f"{file.parts[-3]}-{file.name.removesuffix('.xml.gold_skel')}": file for file in files}


def _read(
    words: Path, skeleton_files: Mapping[str, Path], left_out: Counter[str]
) -> Iterator[Sentence]:
    n_annotated = 0
    for name, sentences in _read_documents(words):
        if (file := skeleton_files.get(name)) is None:
            left_out["sentences of documents that PropBank lacks"] += len(sentences)
            continue
        n_annotated += 1
        skeletons = list(read_gold_skel(read_lines(file), source=str(file)))
        for sentence in annotate(sentences, skeletons, left_out=left_out):
            yield without_auxiliaries(sentence, left_out)
    if not n_annotated:
        raise DataError(
            f"{words}: has none of the documents that PropBank has, such as "
            f"{next(iter(skeleton_files))}"
        )


def annotate(
    sentences: Sequence[Sentence], skeletons: Sequence[Skeleton], *, left_out: Counter[str]
) -> list[Sentence]:
    """Return the sentences of a document with their propositions, without those PropBank lacks.

    A proposition belongs to the sentence of its predicate; arguments in other sentences are left
    out, and so is a second predicate on one word.
    """
    places = _places(sentences, skeletons)
    trees = [_tree(sentence) for sentence in sentences]
    found: list[dict[int, Proposition]] = [{} for _ in sentences]
    for skeleton, skeleton_places in zip(skeletons, places, strict=True):
        for published in skeleton.propositions:
            if not skeleton_places[published.predicate]:
                left_out["propositions of words that UD lacks"] += 1
                continue
            number = skeleton_places[published.predicate][0][0]
            words = _within(skeleton_places, number)
            proposition = _proposition(published, words, trees[number], left_out)
            if found[number].setdefault(proposition.predicate, proposition) is not proposition:
                left_out["second propositions of one word"] += 1
    with_skeleton = {number for each in places for word in each for number, _ in word}
    if n := len(sentences) - len(with_skeleton):
        left_out["sentences that PropBank lacks"] += n
    return [
        sentence.with_propositions(found[number].values())
        for number, sentence in enumerate(sentences)
        if number in with_skeleton
    ]


def _read_documents(path: Path) -> Iterator[tuple[str, list[Sentence]]]:
    name: str | None = None
    sentences: list[Sentence] = []
    for sentence in read_conllu(read_lines(path), source=str(path)):
        for comment in sentence.comments:
            if comment.startswith(_NEW_DOCUMENT):
                if name is not None:
                    yield name, sentences
                name, sentences = comment.removeprefix(_NEW_DOCUMENT).strip(), []
        if name is None:
            raise DataError(
                f"{path}: expected '{_NEW_DOCUMENT}...' above the first sentence, got "
                f"{' '.join(sentence.words[:5])!r}; PropBank is matched by documents"
            )
        sentences.append(sentence)
    if name is not None:
        yield name, sentences


def _places(
    sentences: Sequence[Sentence], skeletons: Sequence[Skeleton]
) -> list[list[list[Place]]]:
    """Return the places of each word of each skeleton in the document."""
    places: list[list[list[Place]]] = []
    for some_sentences, some_skeletons in _passages(sentences, skeletons):
        words = [(n, word) for n in some_sentences for word in range(len(sentences[n]))]
        new = [tag for n in some_sentences for tag in _tags(sentences[n])]
        old = [tag for n in some_skeletons for tag in skeletons[n].tags]
        partners = iter(align_tags(old, new))
        for n in some_skeletons:
            places.append([[words[j] for j in next(partners)] for _ in skeletons[n].tags])
    return places


def _tags(sentence: Sentence) -> Sequence[str]:
    return sentence.tags or ("_",) * len(sentence)


def _passages(
    sentences: Sequence[Sentence], skeletons: Sequence[Skeleton]
) -> list[tuple[range, range]]:
    """Return the parts of a document to align: (sentences, skeletons) of each part.

    Each sentence is a part if there are as many skeletons. Otherwise UD has split or joined
    sentences: those before and after that have equal lengths are parts, and the rest is one part.
    """
    n, m = len(sentences), len(skeletons)
    if n == m:
        return [(range(k, k + 1), range(k, k + 1)) for k in range(n)]
    before = _n_equal(sentences, skeletons)
    after = _n_equal(sentences[before:][::-1], skeletons[before:][::-1])
    return [
        *((range(k, k + 1), range(k, k + 1)) for k in range(before)),
        (range(before, n - after), range(before, m - after)),
        *((range(n - k, n - k + 1), range(m - k, m - k + 1)) for k in range(after, 0, -1)),
    ]


def _n_equal(sentences: Sequence[Sentence], skeletons: Sequence[Skeleton]) -> int:
    """Return the number of pairs of equal length before the first other pair."""
    pairs = zip(sentences, skeletons, strict=False)
    return len(list(takewhile(lambda pair: len(pair[0]) == len(pair[1].tags), pairs)))


def _within(places: Sequence[Sequence[Place]], number: int) -> list[list[int]]:
    """Return the words of one sentence that each word of a skeleton became."""
    return [[word for n, word in places_of_word if n == number] for places_of_word in places]


def _proposition(
    published: SkeletonProposition,
    words: Sequence[Sequence[int]],
    tree: Tree,
    left_out: Counter[str],
) -> Proposition:
    arguments: dict[tuple[str, int], Argument] = {}  # by role and head
    for span in published.spans:
        inside = {word for old in range(span.first, span.last + 1) for word in words[old]}
        if inside:
            head = span_head(inside, tree)
            argument = Argument(span.role, head, phrase=Phrase(min(inside), max(inside)))
            arguments.setdefault((span.role, head), argument)
        else:
            left_out["arguments in another sentence than their predicate"] += 1
    return Proposition(
        span_head(set(words[published.predicate]), Tree(tree.heads, None)),
        published.sense,
        tuple(sorted(arguments.values(), key=lambda argument: argument.word)),
    )


def _tree(sentence: Sentence) -> Tree:
    """Return the tree of a sentence; raise DataError if there is none or it has a circle."""
    heads = sentence.heads
    if heads is None:
        raise DataError(f"sentence {sentence.id!r}: has no heads")
    rooted: set[int] = set()
    for word in range(len(heads)):
        path = [word]
        while path[-1] not in rooted and (head := heads[path[-1]]) is not None:
            if head in path:
                raise DataError(
                    f"sentence {sentence.id!r}: its tree has a circle at word {head + 1}"
                )
            path.append(head)
        rooted.update(path)
    return Tree(heads, sentence.relations)
