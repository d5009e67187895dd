from __future__ import annotations

import pytest

from misfeat.bench.downstream_page import page, summary, verdicts


@pytest.fixture
def means():
    figures = {
        "population": (0.80, 0.50),
        "mRMR, pooled": (0.78, 0.49),
        "SelectKBest, each": (0.70, 0.60),
        "all features": (0.90, 0.40),
    }
    return [
        {"table": table, "rows": rows, "size": 2, "method": method,
         "auc": auc + better * (rows == 500), "log_loss": loss}
        for table, better in (("adult", 0.02), ("attrition", 0.04))
        for rows in (200, 500)
        for method, (auc, loss) in figures.items()
    ]  # fmt: skip


def test_the_best_peer_is_no_regression_on_all_features(means):
    found = list(verdicts(means))
    assert found == [
        "AUC: at least as good as the best peer in 2 of 2 columns; margins +0.0200, +0.0200.",
        "log loss: at least as good as the best peer in 0 of 2 columns; margins -0.0100, -0.0100.",
    ]
    assert list(verdicts([row for row in means if row["method"] == "population"])) == []


def test_the_page_has_means_over_tables_and_every_table(means):
    text = page(means, 10)
    assert "| **population** | 0.800 | 0.830 |" in text
    assert "| attrition | 0.800 / 0.780 | 0.840 / 0.820 |" in text
    assert "| attrition | 0.500 / 0.490 | 0.500 / 0.490 |" in text
    assert "- AUC: at least as good" in text


def test_the_summary_has_a_line_a_method_and_a_column_a_size_and_rows(means):
    lines = list(summary(means))
    assert lines[0] == "Means over adult, attrition:"
    assert lines[1].split() == ["AUC", "m=2", "n=200", "m=2", "n=500"]
    assert lines[2].split() == ["population", "0.8000", "0.8300"]


def test_a_table_too_small_for_some_rows_counts_in_verdicts_but_not_in_means(means):
    small = {"table": "nhanes", "rows": 200, "size": 2, "log_loss": 0.5}
    peers = [{**small, "method": "mRMR, pooled", "auc": 0.9}]
    ours = [{**small, "method": "population", "auc": 0.6}]
    text = page([*means, *peers, *ours], 10)
    assert "Means over adult, attrition (not nhanes, which is too small for some n):" in text
    assert "| **population** | 0.800 | 0.830 |" in text
    assert "| nhanes | 0.600 / 0.900 | – / – |" in text
    assert "best peer in 1 of 2 columns; margins -0.0867, +0.0200." in text
