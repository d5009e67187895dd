"""Draw the pictures of docs/how_to/plots.md.

    python docs/images/make_plots.py

writes docs/images/plot_*.png. The table is generated: four clinics that do not take the same tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib import pyplot as plt

import misfeat
from misfeat.datasets import make_cohorts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS_AN_INCH = 90


def main() -> None:
    mpl.use("Agg")
    data = make_cohorts(
        n_cohorts=4,
        n_rows=3000,
        n_features=8,
        feature_names=(
            "glucose",
            "ecg",
            "weight",
            "smoking",
            "pressure",
            "lipids",
            "kidney",
            "sleep",
        ),
        cohort_names=("North", "East", "South", "West"),
        group="clinic",
        target="ill",
        hide=0.3,
        random_state=2,
    )
    selector = misfeat.SubgroupSelector(data.groups, size=3, k=8, random_state=0)
    selector.fit(data.columns, data.target)
    save(misfeat.plot.top_k(selector, "clinic=East"), "top_k")
    save(misfeat.plot.worth_collecting(selector, n=8), "worth_collecting")
    save(misfeat.plot.interactions(selector, "clinic=East"), "interactions")
    selector.significance()
    save(misfeat.plot.feature_map(selector), "feature_map")
    save(misfeat.plot.forest(selector, ["ecg", "weight"]), "forest")
    save(misfeat.plot.size_curve(selector)[0], "size_curve")
    save(misfeat.plot.stability(selector, "clinic=East"), "stability")


def save(ax: Axes, name: str) -> None:
    path = Path(__file__).with_name(f"plot_{name}.png")
    # Without the version of matplotlib, so that the same picture is the same file.
    options = {"metadata": {"Software": None}, "pil_kwargs": {"optimize": True}}
    ax.figure.savefig(path, dpi=DOTS_AN_INCH, **options)
    plt.close(ax.figure)


if __name__ == "__main__":
    main()
