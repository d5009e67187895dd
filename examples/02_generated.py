"""Subgroups drawn from known populations: estimates with intervals beside the truth.

python examples/02_generated.py
"""

from __future__ import annotations

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts


def main() -> None:
    data = make_cohorts(n_cohorts=3, n_rows=5000, hide=0.3, random_state=0)
    selector = SubgroupSelector(groups=data.groups, size=2, k=5).fit(data.columns, data.target)
    for best in selector.best_sets():
        truth = data.true_score(best.subgroup, best.features)
        interval = f"{best.score:.4f} ({best.low:.4f} to {best.high:.4f})"
        print(best.subgroup, best.features, best.source, f"{interval}, truth {truth:.4f}")


if __name__ == "__main__":
    main()
