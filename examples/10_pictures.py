"""Pictures: six ways to look at what was found.

Functions of `misfeat.plot` take a fitted selector and return matplotlib's Axes, so that they can be
put together and saved as any other. Four generated clinics did not take the same tests.
"""

# %%
from matplotlib import pyplot as plt

import misfeat
from misfeat.datasets import make_cohorts

data = make_cohorts(
    n_cohorts=4,
    n_rows=3000,
    n_features=8,
    feature_names=("glucose", "ecg", "weight", "smoking", "pressure", "lipids", "kidney", "sleep"),
    cohort_names=("North", "East", "South", "West"),
    group="clinic",
    target="ill",
    hide=0.3,
    random_state=2,
)
selector = misfeat.SubgroupSelector(data.groups, size=2, k=6).fit(data.columns, data.target)
figure, axes = plt.subplots(3, figsize=(8, 11), layout="constrained")
misfeat.plot.feature_map(selector, ax=axes[0])
misfeat.plot.top_k(selector, "clinic=East", ax=axes[1])
misfeat.plot.worth_collecting(selector, n=6, ax=axes[2])

# %%
# One set across subgroups, as studies are drawn in a meta-analysis: hollow squares are predictions.
misfeat.plot.forest(selector, ["glucose", "ecg"])

# %%
# Which pairs explain more together than one by one, and which the same in part.
misfeat.plot.interactions(selector, "clinic=East")
