"""Fit the constants of `misfeat.show.costs` to measured.csv, and say how far off they are.

    python benchmarks/sizing/fit.py

Each step is fitted by itself to the tables of ``chosen``, by least squares of logarithms (a robust
loss, since the first table that needs a kernel may compile it), and held against those of ``held``.
Constants go to model.json, ratios of forecast to measured to model.txt.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from misfeat.show.costs import Costs, Shape

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
LEAST_SECONDS, LEAST_BYTES = 0.2, 10 * 2**20
"""Added on both sides: less is not worth a forecast."""

Step = tuple[str, tuple[str, ...], "Callable[[Costs, Shape], float]"]
STEPS: list[Step] = [
    ("coding", ("coded",), Costs.coding),
    ("scores of own rows", ("scored", "scored_subgroup"), lambda c, s: c.scoring(s, s.size)),
    (
        "population",
        ("estimated", "estimated_cell", "fitted_cell"),
        lambda c, s: c.estimating(s, s.size),
    ),
    ("significance", ("dealt", "dealt_cell"), lambda c, s: c.dealing(s, s.tested)),
    ("enough features", (), Costs.seeing_enough),
    ("validation", ("validated",), Costs.validating),
    ("stability", ("redrawn", "redrawn_subgroup"), Costs.redrawing),
    ("report", ("reported", "reported_subgroup", "reported_row"), Costs.reporting),
]


def shape_of(line: pd.Series) -> Shape:
    """What there was to do in a line of measured.csv."""
    return Shape(
        rows=line.rows_kept,
        features=int(line.features_kept),
        subgroups=int(line.subgroups_kept),
        size=int(line["size"]),
        values=line["values"],
        classes=line.classes,
        unrecorded=line.unrecorded,
        tested=int(line.tested),
        deals=int(line.deals),
        enough=int(line.enough),
        first_known=False,  # measured when the first step made its own deals
        redrawn=bool(line.redrawn),
    )


def lines_of(measured: pd.DataFrame, step: str) -> pd.DataFrame:
    """The lines in which a step was done."""
    if step in ("coding", "scores of own rows", "population"):
        return measured
    done = measured[measured.report]
    if step == "stability":
        return done[done.redrawn == 1]
    return done[done[f"{step}: cpu"] > 0]


def fitted(costs: Costs, lines: pd.DataFrame, step: Step) -> Costs:
    """The costs with the constants of a step that come closest."""
    name, constants, seconds = step
    if not constants:
        return costs
    shapes = [shape_of(line) for _, line in lines.iterrows()]
    target = np.log(lines[f"{name}: cpu"].to_numpy() + LEAST_SECONDS)
    start = np.log([getattr(costs, one) for one in constants])

    def off(logs: np.ndarray) -> np.ndarray:
        tried = replace(costs, **dict(zip(constants, np.exp(logs), strict=True)))
        return np.log([seconds(tried, shape) + LEAST_SECONDS for shape in shapes]) - target

    limits = (start - 12, start + 7)
    found = least_squares(off, start, bounds=limits, loss="soft_l1", f_scale=0.3)
    values = [float(f"{value:.3g}") for value in np.exp(found.x)]
    return replace(costs, **dict(zip(constants, values, strict=True)))


def fitted_memory(costs: Costs, lines: pd.DataFrame) -> Costs:
    """The costs with the constants of memory that come closest, from above rather than below."""
    constants = ("held_once", "held_value", "held_score", "held_cell")
    shapes = [shape_of(line) for _, line in lines.iterrows()]
    target = np.log(lines.own_mib.to_numpy() * 2**20 + LEAST_BYTES)
    start = np.log([getattr(costs, one) for one in constants])

    def off(logs: np.ndarray) -> np.ndarray:
        tried = replace(costs, **dict(zip(constants, np.exp(logs), strict=True)))
        gap = np.log([tried.memory(shape) + LEAST_BYTES for shape in shapes]) - target
        return np.where(gap < 0, 3 * gap, gap)

    found = least_squares(off, start, bounds=(start - 9, start + 5))
    values = [float(f"{value:.3g}") for value in np.exp(found.x)]
    return replace(costs, **dict(zip(constants, values, strict=True)))


def whole(costs: Costs, line: pd.Series) -> float:
    """CPU seconds of all steps that are forecast and were done in a line."""
    shape = shape_of(line)
    found = costs.once + costs.coding(shape) + costs.fitting(shape)
    if line.report:
        found += costs.dealing(shape, shape.tested) + costs.seeing_enough(shape)
        found += costs.validating(shape) + costs.reporting(shape)
        found += costs.redrawing(shape) if shape.redrawn else 0.0
    return found


def alone(lines: pd.DataFrame, step: str) -> float:
    """The share of a step that is done on one core, from what two cores make of it."""
    wall, cpu = lines[f"{step}: wall"].sum(), lines[f"{step}: cpu"].sum()
    return round(float(np.clip(2 * wall / cpu - 1, 0, 1)), 2)


def spread(ratios: list[float]) -> str:
    low, middle, high = np.quantile(ratios, [0, 0.5, 1])
    return f"{low:.2f} to {high:.2f}, median {middle:.2f} ({len(ratios)} tables)"


def main() -> None:
    measured = pd.read_csv(HERE / "measured.csv").dropna(subset=["seconds"])
    chosen = measured[measured.part == "chosen"]
    costs = Costs()
    for step in STEPS:
        costs = fitted(costs, lines_of(chosen, step[0]), step)
    costs = fitted_memory(costs, chosen)
    said = ["Forecast over measured (CPU seconds, plus 0.2 s on both sides; two cores, x86-64)."]
    for part in ("chosen", "held"):
        own = measured[measured.part == part]
        said.append(f"\n{part}")
        for name, _, seconds in STEPS:
            lines = lines_of(own, name)
            ratios = [
                (seconds(costs, shape_of(line)) + LEAST_SECONDS)
                / (line[f"{name}: cpu"] + LEAST_SECONDS)
                for _, line in lines.iterrows()
            ]
            said.append(f"  {name:20} {spread(ratios)}")
        ratios = [whole(costs, line) / line.cpu_seconds for _, line in own.iterrows()]
        said.append(f"  {'all of it':20} {spread(ratios)}")
        old = [
            2 * sum(line[name] for name in own if name.endswith(": forecast")) / line.cpu_seconds
            for _, line in own.iterrows()
        ]
        said.append(f"  {'as forecast before':20} {spread(old)}")
        ratios = [
            (costs.memory(shape_of(line)) + LEAST_BYTES) / (line.own_mib * 2**20 + LEAST_BYTES)
            for _, line in own.iterrows()
        ]
        said.append(f"  {'memory':20} {spread(ratios)}")
        old = [
            (line.forecast_mib * 2**20 + LEAST_BYTES) / (line.own_mib * 2**20 + LEAST_BYTES)
            for _, line in own.iterrows()
        ]
        said.append(f"  {'memory, before':20} {spread(old)}")
        said += [
            f"    {line.rows:9,} rows x {line.features:3} features x {line.subgroups:4} subgroups, "
            f"size {line['size']}, {line['values']} values: {line.cpu_seconds:6.1f} CPU s, "
            f"forecast {whole(costs, line):6.1f}; {line.own_mib:6.0f} MiB, "
            f"forecast {costs.memory(shape_of(line)) / 2**20:6.0f}"
            for _, line in own.iterrows()
        ]
    (HERE / "model.txt").write_text("\n".join(said) + "\n")
    shares = {name: alone(lines_of(chosen, name), name) for name, *_ in STEPS}
    model = {"costs": asdict(costs), "alone": shares}
    (HERE / "model.json").write_text(json.dumps(model, indent=1) + "\n")
    print("\n".join(said))


if __name__ == "__main__":
    main()
