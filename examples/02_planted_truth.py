"""A planted truth: estimates and intervals beside what is true.

`make_cohorts` draws subgroups from populations that are known exactly and hides features from some
of them. So every estimate can be held against the truth, predicted ones included.
"""

# %%
# Six subgroups of 2,000 rows. Each lacks some of the eight features.
from matplotlib import pyplot as plt

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import make_cohorts

data = make_cohorts(n_cohorts=6, n_rows=2000, hide=0.3, random_state=0)
selector = SubgroupSelector(groups=data.groups, size=2, k=2).fit(data.columns, data.target)
for best in best_sets(selector.selection_):
    truth = data.true_score(best.subgroup, best.features)
    interval = f"{best.score:.4f} ({best.low:.4f} to {best.high:.4f})"
    print(best.subgroup, best.features, best.source, f"{interval}, truth {truth:.4f}")

# %%
# All pairs of all subgroups: on the line an estimate would be exact. 90 % of the intervals are to
# hold the truth, on the mean over sets.
scores = selector.scores()
truth = [
    data.true_score(*pair) for pair in zip(scores["subgroup"], scores["features"], strict=True)
]
held = (scores["low"] <= truth) & (truth <= scores["high"])
print(f"{held.sum()} of {len(held)} intervals hold the truth ({held.mean():.0%})")

figure, axes = plt.subplots(figsize=(5, 5))
for source, colour in {"recorded": "#0b5cad", "predicted": "#9a4a00"}.items():
    chosen = (scores["source"] == source).to_numpy()
    true, shown = [t for t, c in zip(truth, chosen, strict=True) if c], scores[chosen]
    reach = [shown["score"] - shown["low"], shown["high"] - shown["score"]]
    axes.errorbar(true, shown["score"], reach, fmt="o", ms=4, lw=0.8, color=colour, label=source)
axes.axline((0, 0), slope=1, color="grey", lw=0.8)
axes.set(xlabel="true score (nats)", ylabel="estimate with its 90 % interval")
axes.legend()
