from __future__ import annotations

import pytest

from misfeat.bench.population_page import FIGURES, page, summary


def cell(table, rows, hidden, method, share, coverage=None):
    figures = dict.fromkeys(FIGURES, coverage) | {"share": share, "ndcg": share / 2}
    about = {"table": table, "rows": rows, "hidden": hidden, "size": 3}
    return {**about, "method": method, **figures}


@pytest.fixture
def means():
    return [
        cell(table, rows, 0.2, method, share, 0.9 if known and method == "population" else None)
        for table, known in (("adult", False), ("similarity 20", True))
        for rows in ((100, 300) if known else (100,))
        for method, share in (("sample", 0.6), ("population", 0.9 if known else 0.8))
    ]


def test_the_page_has_means_over_tables_and_every_table(means):
    text = page(means, 10)
    assert '| 0.2 | plug-in (`estimate="sample"`) | 0.60 / 0.30 | 0.60 / 0.30 |' in text
    assert '| 0.2 | **population** (`"population"`) | 0.90 / 0.45 | 0.90 / 0.45 |' in text
    assert "means over similarity 20 (not adult, which is too small for some n)" in text
    assert "| adult | 100 | 0.2 | 0.60 | 0.80 |" in text
    assert "| similarity 20 | 300 | 0.2 | 0.90 | 0.90 | 0.90 | 0.90 |" in text
    assert "adult | 100 | 0.2 | 0.90" not in text  # nobody knows its population
    assert "Means over 10 draws" in text


def test_without_a_known_population_nothing_is_said_of_intervals(means):
    text = page([row for row in means if row["table"] == "adult"], 2)
    assert "No table of a known population" in text


def test_the_summary_has_a_line_a_table_rows_and_share(means):
    lines = list(summary(means))
    assert len(lines) == 1 + 3
    assert lines[1].split() == ["adult", "100", "0.2", "0.600", "0.800", "–"]
    assert lines[2].split()[-1] == "0.90"
