from __future__ import annotations

import math

import pytest

from misfeat.bench.paper.claims import Finding, findings
from misfeat.bench.paper.page import page
from misfeat.bench.paper.plan import PAPERS_METHODS
from misfeat.bench.paper.results import Results, mean_drop

FIGURES = ("ndcg_5", "ndcg_10", "precision_5", "precision_10", "ndcg_5_all", "captured_5",
           "relative_error", "seconds")  # fmt: skip


def completion(table, method, hidden, value, seed=1):
    about = {"experiment": "completion", "table": table, "seed": seed, "hidden": hidden}
    return {**about, "method": method, **dict.fromkeys(FIGURES, value)}


@pytest.fixture
def results():
    values = dict(zip(PAPERS_METHODS, (0.8, 0.6, 0.4, 0.2), strict=True))
    rows = [
        completion(table, method, hidden, value * (1 - hidden if method == "knn" else 1), seed)
        for table in ("mobile", "SD1, formula 1", "SD1, formula 2, with noise")
        for method, value in values.items()
        for hidden in (0.2, 0.3)
        for seed in (1, 2)
        if table == "mobile" or hidden == 0.2
    ]
    for budget in (0.2, 0.8):
        for sampler, distance in (("randwalk", 0.3), ("arbitrary", budget)):
            rows.append({"experiment": "sampling", "table": "mobile", "seed": 1, "budget": budget,
                         "sampler": sampler, "distance": distance})  # fmt: skip
    for level, accuracy in ((2, 0.7), (3, 0.9), (4, 0.8), (5, 0.95)):
        for method, value in (("paper", accuracy), ("transfer", 1.0)):
            rows.append({"experiment": "closure", "table": "mobile", "seed": 1, "level": level,
                         "method": method, "accuracy": value})  # fmt: skip
    for varied in ("features", "subgroups", "hidden", "budget"):
        for value in (1, 2):
            about = {"features": 10, "subgroups": 4, "hidden": 0.2, "budget": 0.6, varied: value}
            for method, seconds in (("paper", 1.0), ("knn", value), ("transfer", 0.1)):
                rows.append({"experiment": "timing", "varied": varied, **about, "method": method,
                             "seconds": seconds, "machine": "2 CPU threads"})  # fmt: skip
    for value in (10, 12):
        for method, seconds in (("shared", 1.0), ("from scratch", 5.0 * value)):
            rows.append({"experiment": "precomputation", "varied": "features", "features": value,
                         "subgroups": 4, "method": method, "seconds": seconds,
                         "machine": "2 CPU threads"})  # fmt: skip
    return Results(rows)


def test_synthetic_tables_and_seeds_are_averaged(results):
    found = {(r["dataset"], r["method"]): r for r in results.effectiveness()}
    assert set(found) == {(d, m) for d in ("mobile", "SD1") for m in PAPERS_METHODS}
    assert found["SD1", "paper"]["ndcg_5"] == pytest.approx(0.8)
    assert found["mobile", "knn"]["ndcg_5"] == pytest.approx(0.6 * 0.8)


def test_the_drop_is_relative_to_the_step_before(results):
    drops = {row["method"]: row["ndcg_5"] for row in results.drops()}
    assert drops["paper"] == pytest.approx(0)
    assert drops["knn"] == pytest.approx((0.8 - 0.7) / 0.8)
    assert mean_drop([0.8, 0.6, 0.3]) == pytest.approx((0.25 + 0.5) / 2)
    assert math.isnan(mean_drop([0.0, 0.1]))
    assert math.isnan(mean_drop([0.5]))


def test_claims_are_held_against_figures(results):
    found = {finding.claim: finding for finding in findings(results)}

    def verdict(text):
        (claim,) = [claim for claim in found if text in claim]
        return found[claim].verdict

    assert verdict("more effective than knn on real tables") == "reproduced"
    assert verdict("loses less than knn") == "reproduced"
    assert verdict("RANDWALK") == "not reproduced"  # at one budget of two
    assert verdict("Upward closure") == "reproduced in part"  # one step of three goes down
    assert verdict("faster than knn") == "reproduced"
    assert verdict("does not grow with the number of subgroups") == "not reproduced"
    assert verdict("three times as fast") == "not reproduced"
    assert verdict("Sharing entropies") == "reproduced"
    assert Finding("", 0, 2, "").verdict == "not reproduced"


def test_the_page_shows_ours_beside_the_printed_number(results):
    text = page(results, quick=False)
    assert "| paper | 0.80 / 0.64 | 0.80 / 0.58 |" in text
    assert "| knn | 12.5% / 18.0% |" in text
    assert "| mobile | 3 | 0.90 / 0.94 | 1.00 |" in text
    assert "| mobile, randwalk | 0.300 | 0.25 |" in text
    assert "| features | 12 | 1 | 60 |" in text
    assert "Times on: 2 CPU threads." in text
    assert "--quick" not in text
    assert "--quick" in page(results, quick=True)
