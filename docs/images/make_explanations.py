"""Draw the pictures of the front page, of the tutorial and of docs/explanation.

    python docs/images/make_explanations.py

writes a picture named after each function of `PICTURES` beside this script. What they show of
scores is computed: the heart table comes with the package, the others are generated.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from misfeat import SubgroupSelector, plot
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import make_cohorts
from misfeat.demo import fitted

FOLDER = Path(__file__).parent
RECORDED, PREDICTED, GREY, PALE = "#0b5cad", "#9a4a00", "#7a8590", "#fbe3d0"


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "misfeat", "svg.fonttype": "path", "font.size": 10})
    for draw in PICTURES:
        figure = draw()
        path = FOLDER / f"{draw.__name__}.svg"
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)


def problem() -> plt.Figure:
    """Which hospital recorded what, and the best set of each."""
    selector = fitted()
    shown = ["chest pain", "exercise angina", "ST depression", "vessels", "thallium scan"]
    best = best_sets(selector.selection_, k=1)
    lacking = {one.subgroup: one.missing for one in selector.subgroups_.itertuples()}
    figure, axes = plt.subplots(figsize=(9.5, 2.9))
    for line, one in enumerate(best):
        at = len(best) - line
        axes.text(-0.1, at, one.subgroup.partition("=")[2], ha="right", va="center", weight="bold")
        for place, name in enumerate(shown):
            gap = name in lacking[one.subgroup]
            axes.add_patch(
                plt.Rectangle(
                    (place * 1.25, at - 0.36), 1.15, 0.72, fc=PALE if gap else "#e4eef8", ec="none"
                )
            )
            axes.text(
                place * 1.25 + 0.57,
                at,
                "never" if gap else "recorded",
                ha="center",
                va="center",
                color=PREDICTED if gap else RECORDED,
                size=8,
            )
        colour = PREDICTED if one.source == "predicted" else RECORDED
        whole = one.score / one.share
        interval = f"{one.share:.0%} ({one.low / whole:.0%} to {one.high / whole:.0%})"
        words = f"{' + '.join(one.features)}\n{interval}, {one.source}"
        axes.text(6.75, at, words, va="center", color=colour, size=9)
    for place, name in enumerate(shown):
        axes.text(
            place * 1.25 + 0.57,
            len(best) + 0.75,
            name.replace(" ", "\n"),
            ha="center",
            va="center",
            size=8.5,
        )
    axes.annotate("", (6.6, 2.5), (6.25, 2.5), arrowprops={"arrowstyle": "-|>", "color": GREY})
    axes.text(6.75, len(best) + 0.75, "would explain most of heart disease", va="center", size=8.5)
    axes.set(xlim=(-1.4, 10.6), ylim=(0.4, len(best) + 1.1))
    axes.axis("off")
    return figure


def lattice() -> plt.Figure:
    """The sets of four features, of which one was not recorded."""
    names, missing = "abcd", "d"
    figure, axes = plt.subplots(figsize=(7.5, 4.2))
    places = {}
    for size in range(5):
        sets = list(combinations(names, size))
        for number, one in enumerate(sets):
            places[one] = (number - (len(sets) - 1) / 2, size)
    for one, (x, y) in places.items():
        for other in (two for two in places if len(two) == len(one) + 1 and set(one) < set(two)):
            axes.plot([x, places[other][0]], [y, places[other][1]], color="#d5dbe1", lw=1, zorder=0)
    for one, (x, y) in places.items():
        gap = missing in one
        label = "{" + ", ".join(one) + "}"
        box = {
            "boxstyle": "round",
            "fc": PALE if gap else "#e4eef8",
            "ec": PREDICTED if gap else RECORDED,
        }
        axes.text(x, y, label, ha="center", va="center", bbox=box, size=9)
    for size in range(5):
        axes.text(-3.4, size, f"size {size}", va="center", color=GREY)
    axes.text(1.5, 4.05, "recorded: scored", color=RECORDED, va="center")
    axes.text(1.5, 3.75, "d was never recorded: predicted", color=PREDICTED, va="center")
    axes.set(xlim=(-3.6, 3.9), ylim=(-0.4, 4.4))
    axes.axis("off")
    return figure


def few_rows() -> plt.Figure:
    """Best observed score, estimate and truth, for more and more rows."""
    sizes = (50, 100, 200, 500, 1000, 2000, 5000)
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for axes, strength, title in zip(
        panels, (0.0, 0.45), ("nothing informs about the target", "some features do"), strict=True
    ):
        lines = np.array([_best(rows, strength) for rows in sizes])
        axes.plot(sizes, lines[:, 0], "o-", color=GREY, label="observed: the rows as they are")
        axes.fill_between(sizes, lines[:, 2], lines[:, 3], color=RECORDED, alpha=0.15)
        axes.plot(sizes, lines[:, 1], "o-", color=RECORDED, label="score, with its interval")
        axes.plot(sizes, lines[:, 4], "k--", lw=1, label="truth of the same sets")
        axes.set(xscale="log", xlabel="rows of each of four subgroups", title=title)
        axes.set_xticks(sizes, [f"{one:,}" for one in sizes], size=8)
        axes.minorticks_off()
    panels[0].set(ylabel="best set of three (nats)", ylim=(0, None))
    panels[1].legend(frameon=False)
    return figure


def _best(rows: int, strength: float) -> list[float]:
    """Means over subgroups and draws, of the set with the highest score."""
    found = []
    for seed in range(4):
        data = make_cohorts(
            n_rows=rows, n_values=4, strength=strength, similarity=1e6, hide=0, random_state=seed
        )
        selector = SubgroupSelector(data.groups, size=3, k=1).fit(data.columns, data.target)
        plain = selector.scores().groupby("subgroup")["observed"].max()
        for one in best_sets(selector.selection_):
            truth = data.true_score(one.subgroup, one.features)
            found.append([plain[one.subgroup], one.score, one.low, one.high, truth])
    return list(np.mean(found, axis=0))


def transfer() -> plt.Figure:
    """Tables of a donor and of the subgroup in question, and the one that is predicted."""
    figure, axes = plt.subplots(figsize=(9, 2.7))
    boxes = {
        (0.0, 1.35): (
            "Cleveland recorded all three",
            "chest pain × vessels × ill",
            RECORDED,
            "#e4eef8",
        ),
        (0.0, 0.0): ("Hungary recorded two", "chest pain × ill", RECORDED, "#e4eef8"),
        (6.3, 0.68): ("predicted for Hungary", "chest pain × vessels × ill", PREDICTED, PALE),
    }
    for (x, y), (title, table, ink, ground) in boxes.items():
        axes.add_patch(plt.Rectangle((x, y), 2.7, 0.95, fc=ground, ec=ink))
        axes.text(x + 1.35, y + 0.66, title, ha="center", color=ink, weight="bold", size=8)
        axes.text(x + 1.35, y + 0.26, table, ha="center", size=9)
    for begin, words, y in (
        ((2.75, 1.8), "how vessels go with chest pain,\nill and healthy apart", 1.88),
        ((2.75, 0.48), "how often each chest pain occurs,\nill and healthy apart", 0.2),
    ):
        axes.annotate("", (6.25, 1.15), begin, arrowprops={"arrowstyle": "-|>", "color": GREY})
        axes.text(4.45, y, words, ha="center", va="center", size=8.5)
    axes.text(9.25, 1.15, "→ score,\n    interval,\n    support", va="center", size=9)
    axes.set(xlim=(-0.1, 10.3), ylim=(-0.1, 2.45))
    axes.axis("off")
    return figure


def pooling() -> plt.Figure:
    """All pairs of six subgroups of 150 rows: each by itself, and partially pooled."""
    data = make_cohorts(n_cohorts=6, n_rows=150, hide=0, similarity=60, random_state=5)
    words = {"above_chance": "each by itself, above chance", "population": "partially pooled"}
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.9), sharey=True, layout="constrained")
    for axes, (scale, title), colour in zip(panels, words.items(), (GREY, RECORDED), strict=True):
        selector = SubgroupSelector(data.groups, size=2, estimate=scale)
        found = selector.fit(data.columns, data.target).scores()
        pairs = zip(found["subgroup"], found["features"], strict=True)
        truth = np.array([data.true_score(*pair) for pair in pairs])
        error = np.sqrt(np.mean((found["score"] - truth) ** 2))
        axes.plot(truth, found["score"], "o", ms=4, alpha=0.7, color=colour)
        axes.axline((0, 0), slope=1, color="black", lw=0.8, ls="--")
        axes.set(xlabel="truth (nats)", title=f"{title}\nerror {error:.3f} nats")
    panels[0].set(ylabel="score (nats)")
    return figure


def tutorial_features() -> plt.Figure:
    """Which hospital recorded what, and what each feature explains alone."""
    return plot.feature_map(fitted()).figure


def tutorial_worth() -> plt.Figure:
    """What recording a feature would add."""
    return plot.worth_collecting(fitted(), n=6).figure


PICTURES = (problem, lattice, few_rows, transfer, pooling, tutorial_features, tutorial_worth)

if __name__ == "__main__":
    main()
