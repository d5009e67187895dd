"""What is run: the tables, methods and settings of the paper's experiments, whole or quick."""

from __future__ import annotations

from dataclasses import dataclass

REAL_TABLES = ("attrition", "mobile", "loan")
SYNTHETIC = tuple(
    f"{name}, formula {formula}{noise}"
    for name in ("SD1", "SD2")
    for formula in (1, 2, 3)
    for noise in ("", ", with noise")
)
PAPERS_METHODS = ("paper", "knn", "markov_blanket", "mlp")
"""What the paper compares: its own network, and its baselines."""
PEERS = ("mode", "iterative", "drop")
"""What people reach for today."""
BOUNDED = ", bounded"
OURS = ("transfer", "interactions", "gain", "add", f"paper{BOUNDED}")
"""What this project adds, and the paper's network kept within what is certain."""
SIZE, REACH = 3, 5
"""Sets of three features; the paper's network of two layers reads sets of up to five."""


@dataclass(frozen=True)
class Plan:
    """What an experiment is run with.

    `shares` are probabilities of hiding a feature, for the figures of robustness; `budgets` are for
    that of sampling distance; `n_rows`, `features`, `subgroups` and `timed_budgets` say what is
    timed.
    """

    tables: tuple[str, ...] = (*REAL_TABLES, *SYNTHETIC)
    methods: tuple[str, ...] = (*PAPERS_METHODS, *PEERS, *OURS)
    seeds: tuple[int, ...] = (1, 2, 3)
    shares: tuple[float, ...] = (0.2, 0.3, 0.4, 0.5)
    budgets: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    epochs: int = 1000
    n_rows: int = 50_000
    features: tuple[int, ...] = (10, 12, 14, 16, 18)
    subgroups: tuple[int, ...] = (2, 4, 8, 12, 16)
    timed_budgets: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.0)

    @property
    def closely(self) -> tuple[str, ...]:
        """The tables that all experiments look at: the real ones, or all where there is none."""
        return tuple(table for table in self.tables if table in REAL_TABLES) or self.tables


FULL = Plan()
"""The paper's experiments as they are."""
QUICK = Plan(
    tables=("mobile", "loan", "SD1, formula 1"),
    seeds=(1,),
    shares=(0.2, 0.3),
    budgets=(0.2, 0.5, 0.8),
    epochs=200,
    n_rows=5_000,
    features=(10, 13),
    subgroups=(2, 6),
    timed_budgets=(0.2, 1.0),
)
"""The same on fewer tables, seeds and epochs: minutes on two cores."""
