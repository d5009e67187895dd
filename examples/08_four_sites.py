"""Four sites that may not share rows: counts instead.

Each hospital proposes how its columns could be coded, all agree on one codebook, each counts by it,
and anybody puts the counts together. No row leaves a house. On the command line the same is
`misfeat site`, with keys that sign what is sent.
"""

# %%
# Each hospital has its own table, and sees no other.
import misfeat
from misfeat.datasets import load_heart
from misfeat.sites import agree, combine, propose, summarise

heart = load_heart(readable=True).columns
houses = {}
for name in sorted(set(heart["hospital"])):
    own = [n for n, one in enumerate(heart["hospital"]) if one == name]
    houses[name] = {c: [v[n] for n in own] for c, v in heart.items() if c != "hospital"}

# %%
# A proposal holds names, kinds and rounded cut points, and no count.
proposals = [propose(table, "heart disease", name) for name, table in houses.items()]
codebook, disagreements = agree(proposals)
print(len(codebook.features), "features agreed on;", len(disagreements), "in dispute")

# %%
# What is shared are counts of pairs of features by class, rounded to multiples of 5. Two hospitals
# with many rows share exact ones.
summaries = [
    summarise(table, codebook, name, min_cell=5 if len(table["age"]) < 250 else 1)
    for name, table in houses.items()
]
found = combine(summaries, size=2)
best = found.selection.top_k(k=1)
print(
    best[["subgroup", "features", "score", "low", "high", "source"]].round(3).to_string(index=False)
)

# %%
# Everything that needs no rows is answered. Numbers differ from those of one table and three
# features (01_four_hospitals.py): these are pairs, from rounded counts.
worth = found.selection.worth_collecting()
print(worth[["subgroup", "feature", "gain", "probability"]].head(5).round(3).to_string(index=False))
misfeat.plot.feature_map(found.selection)
