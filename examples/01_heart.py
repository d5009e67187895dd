"""Four hospitals, one of which measured what the others did not.

python examples/01_heart.py
"""

from __future__ import annotations

from misfeat import Coding, SubgroupSelector
from misfeat.datasets import load_heart


def main() -> None:
    heart = load_heart()
    selector = SubgroupSelector(
        groups="site", size=2, k=3, coding=Coding(missing_values={"chol": [0]})
    )
    selector.fit(heart.columns, heart.target)
    print(selector.subgroups_)
    print(selector.top_k()[["subgroup", "features", "score", "low", "high", "source"]].round(3))
    worth = selector.worth_collecting()
    print(worth[["subgroup", "feature", "gain", "probability", "clear", "best_set"]].round(3))


if __name__ == "__main__":
    main()
