"""A custom completer: another way to predict what was not recorded.

A completer is a class with one method, `guess`: a score for every set up to a size, from what is
known. `BaseCompleter` adds bounds, closure and intervals that are learned by hiding.
"""

# %%
# Here a set that a subgroup did not record gets the median of the subgroups that did; where there
# is none, the median of all sets of its size.
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from misfeat import SubgroupSelector
from misfeat.completion import BaseCompleter, Guess
from misfeat.datasets import make_cohorts


class MedianCompleter(BaseCompleter):
    """The median score of the subgroups that recorded a set."""

    def guess(self, known, size):
        """Guess by the median over subgroups, set by set."""
        guesses = []
        for scores in known.exact.by_size[: size + 1]:
            table = pd.DataFrame(scores)  # a line a subgroup, a column a set
            medians = table.median().fillna(table.stack().median())
            guesses.append(np.where(table.isna(), medians, table))
        return Guess.of(guesses)


# %%
# Held against the truth, beside the default, on a table whose populations are known. `"sample"`
# shows predictions as completers make them, before anything is pooled.
data = make_cohorts(n_cohorts=5, n_rows=1500, hide=0.3, random_state=3)
errors = {}
for name, completer in {
    "median": MedianCompleter(),
    "transfer": "transfer",
    "knn": "knn",
}.items():
    selector = SubgroupSelector(data.groups, size=2, completer=completer, estimate="sample")
    scores = selector.fit(data.columns, data.target).scores()
    predicted = scores[scores["source"] == "predicted"]
    sets = zip(predicted["subgroup"], predicted["features"], strict=True)
    errors[name] = predicted["score"].to_numpy() - [data.true_score(*one) for one in sets]
    print(f"{name}: root mean square error {np.sqrt(np.mean(errors[name] ** 2)):.4f} nats")

# %%
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
axes.boxplot(list(errors.values()), orientation="horizontal", tick_labels=list(errors))
axes.axvline(0, color="grey", lw=0.8)
axes.set(xlabel="predicted less true score (nats)")
