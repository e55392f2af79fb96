"""Draw who is said to have done what in reviews: a bar for each agent and verb.

    python examples/reviews_to_chart.py [OUT.svg]

Needs pandas and matplotlib: pip install pandas '.[plots]'. For reviews of your own, change the
file, the column of texts and what counts as bad.
"""

import sys
from pathlib import Path

import matplotlib
import pandas

import capsrl

matplotlib.use("Agg")  # draws into files, without a screen

reviews = pandas.read_csv(Path(__file__).parent / "reviews.csv")
labeled = capsrl.load().label_many(reviews["review"], missing="empty")
facts = capsrl.to_frame(labeled, documents=reviews["id"], rows="proposition", library="pandas")
facts = facts.merge(reviews, left_on="document", right_on="id")

bad = facts[(facts["stars"] <= 2) & facts["A0"].notna() & (facts["joint_probability"] >= 0.5)]
verb = bad["lemma"].where(~bad["negated"], "not " + bad["lemma"])
counts = pandas.crosstab(bad["A0"].str.lower(), verb)
counts = counts.loc[["the courier", "the shop"]]
counts = counts.loc[:, counts.sum() > 0]
print(counts.T.to_string())

out = sys.argv[1] if len(sys.argv) > 1 else "reviews.svg"
axes = counts.plot.barh(stacked=True, xlabel="propositions in bad reviews", ylabel="")
axes.figure.savefig(out, bbox_inches="tight")
