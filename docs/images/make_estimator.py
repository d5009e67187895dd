"""Draw how much information a share of explained variance is.

    python docs/images/make_estimator.py

writes estimator.svg beside this script: the Dirichlet scale of
`misfeat.estimation.covariance_scores` for two distributions of a target of two classes, and
the Gaussian formula.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from misfeat.estimation.covariance_scores import InformationScale

FOLDER = Path(__file__).parent
BLUE, BROWN, GREY = "#0b5cad", "#9a4a00", "#7a8590"
SHARES = {0.5: ("classes 50 % / 50 %", BLUE), 0.1: ("classes 90 % / 10 %", BROWN)}


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "misfeat", "svg.fonttype": "path", "font.size": 10})
    figure = drawn()
    figure.savefig(FOLDER / "estimator.svg", metadata={"Date": None}, bbox_inches="tight")


def drawn() -> plt.Figure:
    """Explained variance against information."""
    explained = np.linspace(0.0, 0.999, 200)
    additive = -0.5 * np.log1p(-explained)
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.plot(explained, additive, color=GREY, lw=1, ls="--", label="Gaussian, -½ log(1 - ρ)")
    for share, (label, colour) in SHARES.items():
        classes = np.array([1.0 - share, share])
        axes.plot(explained, InformationScale(classes).score(additive), color=colour, label=label)
        entropy = -(classes * np.log(classes)).sum()
        axes.axhline(entropy, color=colour, lw=0.8, ls=":")
        axes.text(0.02, entropy + 0.012, f"entropy, {entropy:.2f}", color=colour, size=8)
    axes.set(
        xlabel="explained share ρ of the target's variance",
        ylabel="information (nats)",
        xlim=(0, 1),
        ylim=(0, 0.8),
    )
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, 0.83))
    return figure


if __name__ == "__main__":
    main()
