"""NHANES with weights: who has high cholesterol, in the country rather than in the sample.

The survey drew some people more often than others, in clusters within strata. The rows are those of
NHANES 2009-2010 that the R package survey ships (public domain), 8,591 people.
"""

# %%
# `sample_weight` says how many people a row stands for, `design` how rows were drawn.
from pathlib import Path

import pandas as pd
from matplotlib import pyplot as plt

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import best_sets

kept = Path(__file__).parents[1] / "benchmarks" / "weights" / "nhanes.csv.gz"
survey = pd.read_csv(kept).dropna(subset=["HI_CHOL"])
survey = survey.rename(columns={"agecat": "age", "HI_CHOL": "high cholesterol"})
survey["sex"] = survey.pop("RIAGENDR").map({1: "men", 2: "women"})
survey["race"] = survey["race"].map({1: "Hispanic", 2: "white", 3: "black", 4: "other"})

drawn = {"strata": "SDMVSTRA", "cluster": "SDMVPSU"}
weighted = SubgroupSelector("sex", size=1, k=2, design=drawn)
weighted.fit(survey, "high cholesterol", sample_weight="WTMEC2YR")
print(weighted.subgroups_[["subgroup", "rows", "effective_rows"]].round())

# %%
# Some 3,800 rows of each sex inform as much as `effective_rows` drawn evenly would, and intervals
# are as wide as for these. Without weights and design they are too narrow, around other scores.
bare = survey.drop(columns=["WTMEC2YR", "SDMVSTRA", "SDMVPSU"])
unweighted = SubgroupSelector("sex", size=1, k=2).fit(bare, "high cholesterol")
columns = ["subgroup", "features", "score", "low", "high"]
answers = {"with weights": weighted.top_k()[columns], "without": unweighted.top_k()[columns]}
for name, found in answers.items():
    print(name, found.round(4).to_string(index=False), sep="\n")

# %%
figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
for offset, (name, found) in enumerate(answers.items()):
    at = [n + 0.18 * offset for n in range(len(found))]
    reach = [found["score"] - found["low"], found["high"] - found["score"]]
    axes.errorbar(found["score"], at, xerr=reach, fmt="o", label=name)
names = [f"{one.features[0]}, {one.subgroup}" for one in best_sets(weighted.selection_)]
axes.set(yticks=range(len(names)), yticklabels=names, xlabel="score (nats)")
axes.legend()
