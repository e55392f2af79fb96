"""A small spaCy pipeline with a tagger and a parser."""

from pathlib import Path

SENTENCES = (
    ("Ann baked bread", "NNP VBD NN", (1, 1, 1), "nsubj ROOT dobj"),
    ("Bob baked", "NNP VBD", (1, 1), "nsubj ROOT"),
    ("Ann ate in Rome", "NNP VBD IN NNP", (1, 1, 1, 2), "nsubj ROOT prep pobj"),
)


def save_pipeline(folder: Path) -> Path:
    """Train a tagger and a parser on SENTENCES and write the pipeline to the folder."""
    import spacy
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    examples = []
    for text, tags, heads, relations in SENTENCES:
        annotation = {"tags": tags.split(), "heads": list(heads), "deps": relations.split()}
        examples.append(Example.from_dict(nlp.make_doc(text), annotation))
    spacy.util.fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(folder)
    return folder
