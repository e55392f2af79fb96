import re

import pytest

from corpora.text.sources import COMMITS, SOURCES


def test_every_repository_has_a_commit_and_every_commit_is_used():
    assert {part.repository for source in SOURCES for part in source.parts} == COMMITS.keys()
    assert all(re.fullmatch("[0-9a-f]{40}", commit) for commit in COMMITS.values())


def test_names_are_unique():
    names = [source.name for source in SOURCES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "path", "kind"),
    [
        ("amalgum", "amalgum/news/dep/AMALGUM_news_a.conllu", "news"),
        ("amalgum", "amalgum_extra/bio/dep/AMALGUM_bio_a.conllu", "bio"),
        ("amalgum", "amalgum/whow/dep/AMALGUM_whow_a.conllu", None),  # non-commercial
        ("sgd", "train/dialogues_001.json", ""),
        ("sgd", "test/dialogues_001.json", None),
        ("usgov_blogs", "content/posts/2014-a.md", "18f"),
        ("usgov_blogs", "content/posts/2014-a.es.md", None),
        ("howto", "wiki/Water.md", "survival"),
        ("howto", "wiki/Credits.md", None),
        ("medical", "data/challenge_data/valid.csv", "dialogue"),
        ("medical", "data/challenge_data/valid_metadata.csv", None),
        ("customer_requests", "nlupp/data/hotels/fold3.json", "hotels"),
        ("customer_requests", "banking_data/test.csv", None),
        ("common_voice", "stats/en/raw/elleo.txt", ""),
        ("common_voice", "stats/en/raw/wiki.en.txt", None),
    ],
)
def test_which_files_are_read(name, path, kind):
    (source,) = (source for source in SOURCES if source.name == name)
    found = [
        match.groupdict().get("kind") or part.kind
        for part in source.parts
        if (match := re.fullmatch(part.paths, path))
    ]
    assert found[:1] == ([] if kind is None else [kind])
