"""A measure of one's own: what a set is worth to whoever has to act on it.

Mutual information asks how much is known; who has to act may ask what that is worth. A measure is a
class with one method over tables of counts. Chance, intervals, predictions and tests follow.
"""

# %%
# A test costs 1, a missed case 4, and everybody is tested or nobody, cell by cell of a set. What a
# set saves per row, against the better of testing all and testing none, is a measure: more cells
# never save less.
import numpy as np
from matplotlib import pyplot as plt

from misfeat import SubgroupSelector
from misfeat.datasets import load_heart
from misfeat.information import CountMeasure
from misfeat.testing import check_measure


class CostSaved(CountMeasure):
    """What acting by the cells of a set saves per row."""

    name, unit, words = "cost", "tests per row", "cost saved"

    def __init__(self, missed=4.0):
        self.missed = missed

    def of_counts(self, counts):
        """The cost of the better of two ways, of all rows together less that of cells."""
        healthy, ill = counts[:, :, 0], counts[:, :, 1:].sum(axis=2)
        by_cell = np.minimum(healthy + ill, self.missed * ill).sum(axis=1)
        at_once = np.minimum(counts.sum(axis=(1, 2)), self.missed * ill.sum(axis=1))
        return (at_once - by_cell) / counts.sum(axis=(1, 2))


# %%
# One line says whether it keeps what intervals rest on.
check_measure(CostSaved())

# %%
# The four hospitals of the first example. `score` is what a set would save in the population of a
# hospital, with its interval; sets with features that a hospital never recorded are predicted.
heart = load_heart()
told = {}
for measure in ("mutual_info", CostSaved()):
    selector = SubgroupSelector("site", size=2, k=1, measure=measure)
    told[str(measure)] = selector.fit(heart.columns, "num").top_k()
saved = told[str(CostSaved())]
print(saved[["subgroup", "features", "score", "low", "high", "source"]].round(3).to_string())

# %%
# Where nearly everybody is ill, knowing more changes nothing that is done.
figure, axes = plt.subplots(1, 2, figsize=(8, 2.6), sharey=True, layout="constrained")
for panel, (_, best), label in zip(axes, told.items(), ("nats", "cost per row"), strict=True):
    reach = [best["score"] - best["low"], best["high"] - best["score"]]
    panel.errorbar(best["score"], range(len(best)), xerr=reach, fmt="o", capsize=3)
    panel.set(xlabel=f"what the best pair tells ({label})", xlim=(0, None))
axes[0].set_yticks(range(len(saved)), saved["subgroup"])
