"""Texts to label and search, and what the queries below should find in them, written by hand."""

TEXTS = {
    "d1": "The company sold its old bicycles to a neighbor. Nobody bought the broken ones.",
    "d2": "Mira did not sell her bicycle. She repaired it, and she painted it yesterday.",
    "d3": "The wrong soup was brought by a waiter. We could not eat the soup.",
    "d4": "A tall waiter brought us water. The waiter's brother paid.",
    "d5": 'They said "hello", and it\'s fine; the company-wide sale began.\nIt ended in May.',
}
# Query -> (document, predicate) of its hits.
EXPECTED = {
    "sell": {("d1", "sold"), ("d2", "sell"), ("d5", "sale")},
    "sell.01 A2": {("d1", "sold")},
    "sell -A2 -A0": {("d5", "sale")},
    "sell negated": {("d2", "sell")},
    "sell|buy -negated": {("d1", "sold"), ("d5", "sale")},
    "buy negated A0:nobody": {("d1", "bought")},
    "* A0:waiter": {("d3", "brought"), ("d4", "brought")},
    'bring A1:soup "wrong"': {("d3", "brought")},
    'bring A0:"tall waiter"': {("d4", "brought")},
    'bring A0:"all waiter"': set(),
    "bring A1:s*p|water": {("d3", "brought"), ("d4", "brought")},
    '"the soup" eat.*': {("d3", "eat")},
    "AM-*:yesterday": {("d2", "painted")},
    "paint|eat ARGM-MOD": {("d3", "eat")},
    "sell p>1.0": set(),
    "re* A0": {("d2", "repaired")},
}
