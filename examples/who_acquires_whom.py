"""Find which organizations acquire which, with spaCy.

    python examples/who_acquires_whom.py

Needs spaCy: pip install '.[spacy]'. The ruler knows three names; a trained pipeline such as
spacy.load("en_core_web_md") finds organizations by itself, and then the first lines go.
"""

import spacy
from spacy.tokens import Doc

TEXTS = [
    "Brasco acquired Halden Foods in May, and the bakery was bought by Norvik.",
    "Norvik, which was founded in Oslo, has purchased Brasco for two million crowns.",
    "Anna acquired a bicycle. Halden Foods never bought Norvik.",
    "Norvik's acquisition of Halden Foods surprised many.",
]
SENSES = {"acquire.01", "buy.01", "purchase.01"}

nlp = spacy.blank("en")
names = [{"label": "ORG", "pattern": name} for name in ("Brasco", "Halden Foods", "Norvik")]
nlp.add_pipe("sentencizer")
nlp.add_pipe("entity_ruler").add_patterns(names)
nlp.add_pipe("capsrl")


def deals(doc: Doc) -> list[tuple[str, str, str]]:
    """Buyer, predicate and what was bought, of purchases by organizations that are not denied."""
    company = {token.i: entity.text for entity in doc.ents for token in entity}
    found = []
    for each in doc._.propositions:
        words = {argument.role: argument.word for argument in each.arguments}
        if each.sense in SENSES and words.keys() >= {"A0", "A1"} and "AM-NEG" not in words:
            buyer = company.get(words["A0"].i)
            bought = company.get(words["A1"].i, words["A1"].text)
            found += [(buyer, each.predicate.text, bought)] if buyer else []
    return found


for doc in nlp.pipe(TEXTS):
    for buyer, predicate, bought in deals(doc):
        print(f"{buyer} | {predicate} | {bought}")
