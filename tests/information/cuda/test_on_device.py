"""The same sums on a CUDA device as on the processor; skipped where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from misfeat.cohorts import build_cohorts
from misfeat.information import level_mutual_info
from misfeat.information.cuda import blocks, counting, searching
from misfeat.information.dealing import SideBySide, deals_of
from misfeat.information.prepared import prepare_rows
from misfeat.information.scoring import sums_of_subsets
from misfeat.machine.devices import cuda_for
from misfeat.machine.threads import Work

on_cuda = pytest.mark.skipif(cuda_for("cuda") is None, reason="no CUDA device, or no CuPy")


@pytest.fixture(autouse=True)
def whatever_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LEAST_COUNTED", 0)
    monkeypatch.setattr(counting, "LEAST_GROUPS", 1)
    monkeypatch.setattr(searching, "LEAST_COUNTED", 0)


def cohort_of(n_rows: int, values: int, classes: int, copies: int = 1, features: int = 9):
    rng = np.random.default_rng(n_rows + values)
    table = {f"x{i}": rng.integers(2 + (i + values) % values, size=n_rows) for i in range(features)}
    table["y"] = (table["x0"] + rng.integers(classes, size=n_rows)) % classes
    table = {name: np.tile(column, copies) for name, column in table.items()}
    return build_cohorts(table, "y")["all rows"]


def test_none_is_looked_for_on_the_processor() -> None:
    cohort = cohort_of(500, 3, 2)
    assert cuda_for("cpu") is None
    assert cuda_for("mps") is None
    there = deals_of(cohort, 2, seed=np.random.SeedSequence(1)).scores(0, 5, Work(1, None, "cpu"))
    assert there.shape == (5, 9 + 36)


@on_cuda
@pytest.mark.parametrize("above_chance", [False, True])
@pytest.mark.parametrize(
    ("n_rows", "values", "classes", "copies"),
    [(3001, 4, 4, 1), (997, 3, 2, 5), (5000, 2, 7, 1), (70001, 4, 3, 2), (2500, 9, 2, 1)],
)
def test_scores(n_rows, values, classes, copies, above_chance) -> None:
    cohort = cohort_of(n_rows, values, classes, copies)
    found, expected = (
        level_mutual_info(cohort, 1, 3, above_chance=above_chance, device=device)
        for device in ("cuda", "cpu")
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@on_cuda
@pytest.mark.parametrize("held", [(), (2,), (0, 3)])
@pytest.mark.parametrize(("values", "classes"), [(4, 4), (3, 2), (2, 5)])
def test_deals(values, classes, held) -> None:
    cohort = cohort_of(1500, values, classes)
    strata = np.arange(len(cohort.target)) % 2
    deals = deals_of(cohort, 2, held=held, strata=strata, seed=np.random.SeedSequence(7))
    assert isinstance(deals, SideBySide)
    found, expected = (deals.scores(0, 70, Work(1, None, device)) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


@on_cuda
def test_the_kernels_are_asked() -> None:
    deals = deals_of(cohort_of(1500, 3, 2), 3, seed=np.random.SeedSequence(7))
    assert deals._on_device.sums(deals._seeds[:9], "cuda") is not None


@on_cuda
@pytest.mark.parametrize("above_chance", [False, True])
@pytest.mark.parametrize(
    ("n_rows", "values", "classes", "copies"), [(3001, 4, 4, 1), (901, 5, 2, 7), (1500, 30, 5, 1)]
)
def test_large_sets(n_rows, values, classes, copies, above_chance) -> None:
    cohort = cohort_of(n_rows, values, classes, copies)
    found, expected = (
        level_mutual_info(cohort, 0, 9, above_chance=above_chance, device=device)
        for device in ("cuda", "cpu")
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@on_cuda
def test_entropies_of_listed_sets() -> None:
    cohort = cohort_of(3001, 6, 3)
    rows = prepare_rows(cohort)
    subsets = np.array([[0, 1, 2, 5, 7, 8], [1, 2, 3, 4, 5, 6]])
    found, expected = (
        sums_of_subsets(rows, subsets, 2, Work(1, None, device)) for device in ("cuda", "cpu")
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)
