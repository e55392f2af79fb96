"""The sources of unlabeled English text: public repositories under open licenses.

docs/corpora.md says which others were looked at and left out, and why.
"""

from dataclasses import dataclass

from corpora.text import readers
from corpora.text.choosing import Check, has_usual_length, is_headline, is_prose
from corpora.text.readers import Reader


@dataclass(frozen=True, slots=True)
class Part:
    """Files of one repository that are read in the same way."""

    repository: str
    paths: str  # a pattern of whole paths; its group `kind`, if any, is the kind of each file
    read: Reader
    kind: str = ""  # what follows the name of the source in "source"
    check: Check = is_prose
    most: int | None = None  # sentences
    most_alike: int | None = None  # sentences that begin with the same four words


@dataclass(frozen=True, slots=True)
class Source:
    """What becomes one file."""

    name: str
    contents: str
    license: str
    cite: str
    parts: tuple[Part, ...]


COMMITS = {
    "18F/18f.gsa.gov": "0a55c75e6d9bc71c80136a3867dac52356177443",
    "18F/guides": "debc24b34f23686194d9fe42e391859d569bd39a",
    "ArleneDcosta/StackExchangePatternandPrediction": "bc4f1822a63cf2aa9ae945837cda520c176c6dc3",
    "GSA/digitalgov.gov": "4979583206d90ff1707b097454a9b169ca9e95e4",
    "GonzaloHirsch/TP-XML": "a11ea4a889ae684a720c0536892209eaba40a845",
    "HuStanding/ml": "890d481df3da334b1f3b13ce43eb50df829915b7",
    "Jean-Low/StackERedes": "b6ea69d57d00b90370d0b6f89fae522ffebf6a6e",
    "PolyAI-LDN/task-specific-datasets": "57ec275d8078af65b7731c2a98be812d844a6d6b",
    "Th3CracKed/stream-xml-to-postgres": "8b00efb3575d45dedf3e2b8ef0f5093c7993db32",
    "Yoav-Shafir/Elasticsearch-Coffee-Search-Engine-JS": "97e93c92aaa379fed6d0ee9be94b2024371d6aba",
    "abachaa/MTS-Dialog": "3ff0801933608d6f570468c13125125fb5cabdea",
    "abachaa/MedQuAD": "577bd37b96c02d1833b2c9eed2de9f96964e96cb",
    "arianeborges/sentiment-analysis-with-python": "9851e7c4c71e663d0013a9833bd2b1c4fed08d7c",
    "google-research-datasets/dstc8-schema-guided-dialogue": (
        "e852981ae34990f4358979625854259302feaa78"
    ),
    "gucorpling/amalgum": "a2dbd33e757f75a61d68d22d1a29e840bdffa711",
    "ianrastall/current-events-context": "4ff6f7d243c81c1df4a919fb4280d9d7e9559bd8",
    "inferno986return/SurvivalManual-ebook": "86adea15154954874eb0274f93617c6ddfc3b5c2",
    "jfainberg/self_dialogue_corpus": "113a1b0ff10308f1227c13a4aaded9bc85577816",
    "kevswanberg/beer_tentrr": "9573647bff33c61bdce2f07a9000a4098fd3074d",
    "mattly/ssdug-graphql": "5fefaa1c2dec9a7a5d8c55e2535853c0550d61ee",
    "reinhart1010/common-text": "332b5b9073339fa62ca6d39d6df4836e1063ee04",
    "riesinger/nononsensecooking": "05c077976394ee0a165bbcbd39933a13f33f7268",
    "ronaldl29/public-domain-recipes": "61b488ee25afd3abacc7aec408752f3987a9f8b3",
    "sasiddiqui/confucius": "893604f757d3433cebb44aed241238f01487b190",
    "stevenrskelton/scala-2.10-blog-examples": "7eaef88b977412b353c619f3148a9280cb78a1a5",
    "thenaterhood/fossrecipes": "a6d8d27ba1cd7a2dcaf4dc5d84b7d5a7ab0eaf9c",
    "vanatteveldt/wikinews": "347254178bf343f3801aac1d03c41cc09c35decb",
    "woodstock-dev/code-challenge-10-18-2023": "7399398f756abd45523d51a8bf8679a28959971e",
    "wyim/aci-bench": "b909b2bb9cf1d19de08df15cddde7bd0179665e4",
}


def _dump(repository: str, site: str, folder: str = "") -> Part:
    """A data dump of Stack Exchange."""
    return Part(repository, rf"{folder}(?:Posts|Comments)\.xml", readers.stack_exchange, site)


def _pages(repository: str, folder: str, kind: str) -> Part:
    """A folder of pages in Markdown, without pages about the site and in other languages."""
    other = r"(?!.*(?:\.(?:de|fr|es|it)\.md$|/(?:Credits|_Sidebar|License|LICENSE)))"
    return Part(repository, rf"{other}{folder}/.*\.md", readers.markdown, kind)


_AMALGUM = r"amalgum(?:_extra)?/(?P<kind>academic|bio|fiction|interview|news|voyage)/dep/.*\.conllu"
_EVENTS = ("ianrastall/current-events-context", r".*\.yaml")
_WIKINEWS = ("vanatteveldt/wikinews", r"data/.*\.csv")
_MTS = r"Main-Dataset/MTS-Dialog-(?:Training|Validation)Set\.csv"
_ACI = ("wyim/aci-bench", r"data/challenge_data/(?:train|valid)\.csv")
_POLYAI = "PolyAI-LDN/task-specific-datasets"
_RESTAURANT = r"span_extraction/restaurant8k/train_\d+\.json"
# Not foreign phrases, single words, commands, the Harvard sentences, Wikipedia.
_COMMON_VOICE = r"stats/en/raw/(?!Dictionary|singleword|activate|harvsents|wiki\.)[^/]*\.txt"
_dialogue = readers.table("dialogue", readers.clean_dialogue)

SOURCES = (
    Source(
        "amalgum",
        "academic texts, biographies, fiction, interviews, news, travel",
        "annotation CC BY 4.0; texts CC BY 4.0 (MDPI), CC BY-SA 3.0 (Wikipedia, Wikivoyage), CC BY "
        "2.5 (Wikinews), public domain in the US (Project Gutenberg); wikiHow is not read",
        "Gessler et al. 2020, AMALGUM: A Free, Balanced, Multilayer English Web Corpus (LREC)",
        (Part("gucorpling/amalgum", _AMALGUM, readers.words, check=has_usual_length),),
    ),
    Source(
        "sgd",
        "requests, questions and replies in dialogues about services",
        "CC BY-SA 4.0",
        "Rastogi et al. 2020, Towards Scalable Multi-domain Conversational Agents (AAAI)",
        (
            Part(
                "google-research-datasets/dstc8-schema-guided-dialogue",
                r"(?:train|dev)/dialogues_\d+\.json",
                readers.records("turns", "utterance"),
                most=60_000,
            ),
        ),
    ),
    Source(
        "stackexchange",
        "questions, answers, comments",
        "CC BY-SA 2.5, 3.0 or 4.0 by date, the license of the data dumps",
        "Stack Exchange Inc. and the authors of the posts",
        (
            _dump("kevswanberg/beer_tentrr", "beer"),
            _dump("Yoav-Shafir/Elasticsearch-Coffee-Search-Engine-JS", "coffee"),
            _dump("GonzaloHirsch/TP-XML", "history-meta"),
            _dump("ArleneDcosta/StackExchangePatternandPrediction", "datascience-meta"),
            _dump("Jean-Low/StackERedes", "quantumcomputing", "data/"),
            _dump("arianeborges/sentiment-analysis-with-python", "3dprinting-meta"),
            _dump("mattly/ssdug-graphql", "conlang-meta", "data/"),
            _dump("woodstock-dev/code-challenge-10-18-2023", "bicycles-meta", "data/"),
            _dump("stevenrskelton/scala-2.10-blog-examples", "mathoverflow-meta", "data/"),
            _dump("Th3CracKed/stream-xml-to-postgres", "french-meta", "data/"),
            _dump("sasiddiqui/confucius", "ai", "data/stackexchange/ai.stackexchange.com/"),
            Part("HuStanding/ml", r"fasttext/data/cooking.*\.txt", readers.lines, "cooking-titles"),
        ),
    ),
    Source(
        "selfdialogue",
        "chat about films, music and sport",
        "BSD 3-Clause",
        "Fainberg et al. 2018, Talking to myself (arXiv:1809.06641)",
        (
            Part(
                "jfainberg/self_dialogue_corpus",
                r"corpus/(?P<kind>[^/]+)/.*\.csv",
                readers.self_dialogue,
                most=120_000,
            ),
        ),
    ),
    Source(
        "usgov_blogs",
        "weblogs",
        "CC0",
        "18F and Digital.gov (General Services Administration)",
        (
            _pages("18F/18f.gsa.gov", "content/posts", "18f"),
            _pages("GSA/digitalgov.gov", "content", "gsa"),
        ),
    ),
    Source(
        "current_events",
        "news in the present tense",
        "CC BY-SA 4.0, as the text of Wikipedia",
        "Wikipedia and its editors, Portal:Current events",
        (
            Part(*_EVENTS, readers.current_events(sport=True), "sport"),
            Part(*_EVENTS, readers.current_events(sport=False), "news", most=116_600),
        ),
    ),
    Source(
        "wikinews",
        "news, interviews, headlines",
        "CC BY 2.5",
        "Wikinews and its editors",
        (
            Part(*_WIKINEWS, readers.table("title"), "headline", check=is_headline),
            Part(*_WIKINEWS, readers.table("text", readers.clean_article), "text"),
        ),
    ),
    Source(
        "howto",
        "instructions: recipes, survival, guides for staff",
        "Unlicense (public-domain-recipes), CC0 (fossrecipes, 18F/guides), CC BY 4.0 "
        "(nononsensecooking), public domain (SurvivalManual-ebook, from US Army FM 21-76)",
        "the repositories and their contributors",
        (
            _pages("ronaldl29/public-domain-recipes", "content", "recipes"),
            _pages("thenaterhood/fossrecipes", "_recipes", "recipes"),
            _pages("riesinger/nononsensecooking", "content/r", "recipes"),
            _pages("inferno986return/SurvivalManual-ebook", "wiki", "survival"),
            _pages("18F/guides", "content", "guides"),
        ),
    ),
    Source(
        "medical",
        "dialogues of doctors and patients, notes, answers of the NIH",
        "CC BY 4.0",
        "Ben Abacha et al. 2023 (EACL; MTS-Dialog); Yim et al. 2023 (Scientific Data; ACI-BENCH); "
        "Ben Abacha and Demner-Fushman 2019 (BMC Bioinformatics; MedQuAD)",
        (
            Part("abachaa/MTS-Dialog", _MTS, _dialogue, "dialogue"),
            Part(*_ACI, _dialogue, "dialogue"),
            Part(*_ACI, readers.table("note", readers.clean_note), "note"),
            Part(
                "abachaa/MedQuAD",
                r".*\.xml",
                readers.medical_answers,
                "answer",
                most=28_000,
                most_alike=20,
            ),
        ),
    ),
    Source(
        "customer_requests",
        "messages to a bank, a restaurant, a hotel",
        "CC BY 4.0",
        "Casanueva et al. 2020 (NLP for ConvAI) and 2022 (Findings of NAACL); Coope et al. 2020 "
        "(ACL)",
        (
            Part(_POLYAI, r"banking_data/train\.csv", readers.table("text"), "bank"),
            Part(_POLYAI, _RESTAURANT, readers.records("userInput", "text"), "restaurant"),
            Part(_POLYAI, r"nlupp/data/(?P<kind>\w+)/fold\d+\.json", readers.records("text")),
        ),
    ),
    Source(
        "common_voice",
        "short everyday sentences to be read aloud",
        "CC0",
        "Mozilla Common Voice and its volunteers",
        (Part("reinhart1010/common-text", _COMMON_VOICE, readers.lines),),
    ),
)
