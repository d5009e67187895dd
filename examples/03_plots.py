"""Pictures of what was found: what is missing, the best sets, and what is worth collecting.

Needs matplotlib (``pip install 'misfeat[plot]'``).

    python examples/03_plots.py clinics.png
"""

from __future__ import annotations

import sys

from matplotlib import pyplot as plt

import misfeat
from misfeat.demo.clinics import demo_data


def main(path: str) -> None:
    data = demo_data()
    selector = misfeat.SubgroupSelector(data.groups, size=2, k=6).fit(data.columns, data.target)
    figure, axes = plt.subplots(3, figsize=(8, 11), layout="constrained")
    misfeat.plot.missing(selector, ax=axes[0])
    misfeat.plot.top_k(selector, "clinic=East", ax=axes[1])
    misfeat.plot.worth_collecting(selector, n=6, ax=axes[2])
    figure.savefig(path)
    print(f"The picture is in {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "clinics.png")
