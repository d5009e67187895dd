from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError, Selection
from misfeat.sites import combine, read_summary, summarise, write_summary
from misfeat.sites.rounding import fitted_tables, rounded_summary
from misfeat.sites.summary import margins
from misfeat.sites.telling import told
from tests.sites.test_files import forged, refused


@pytest.fixture(scope="module")
def rounded(summaries):
    return [rounded_summary(summary, 10) for summary in summaries]


def test_every_count_is_a_multiple_of_the_least(rounded):
    for summary in rounded:
        for counts in (summary.by_class, *summary.of_sizes()):
            assert not (counts % 10).any()


def test_single_features_are_within_one_rounding_of_the_fitted_truth(summaries, rounded):
    exact, given = summaries[0], rounded[0]
    share = given.by_class / exact.by_class
    assert (np.abs(given.of_sizes()[0] - exact.of_sizes()[0] * share) < 10).all()


def test_sums_of_larger_tables_tell_of_the_rounded_smaller_ones_only(summaries, rounded):
    # On the mean over many tables that share a pair, the rounded pair comes out, not the true one.
    exact, given = summaries[0], rounded[0]
    cards, n_features = given.cards, len(given.cards)
    triples, pairs = given.tables, given.smaller[1]
    first = int(cards[0] * cards[1])
    from misfeat.information.count_tables import table_starts
    from misfeat.lattice import level, rank

    starts = table_starts(level(n_features, 3), cards)
    sums = []
    for third in range(2, n_features):
        place = int(rank(np.array([[0, 1, third]]))[0])
        table = triples[starts[place] : starts[place + 1]]
        sums.append(table.reshape(first, int(cards[third]), -1).sum(axis=1))
    mean = np.mean(sums, axis=0)
    told_pair, true_pair = pairs[:first], exact.of_sizes()[1][:first]
    assert np.abs(mean - told_pair).mean() < np.abs(mean - true_pair).mean()
    assert not mean[told_pair == 0].any()


def test_the_same_rows_are_told_the_same_way(hospitals, codebook, rounded):
    again = summarise(hospitals["cleveland"], codebook, "cleveland", min_cell=10)
    assert np.array_equal(again.tables, rounded[0].tables)
    pairs = summarise(hospitals["cleveland"], codebook, "cleveland", share="tables2", min_cell=10)
    assert np.array_equal(pairs.tables, rounded[0].smaller[1])


def test_fitted_tables_have_the_smaller_ones_in_common(rounded):
    for summary in rounded:
        singles, pairs, triples = fitted_tables(summary)
        assert np.allclose(margins(pairs, summary.cards, 2), singles, atol=1e-6)
        off = np.abs(margins(triples, summary.cards, 3) - pairs)
        assert off.max() < 0.05 * summary.rows
        assert off.mean() < 1e-3 * summary.rows
        assert np.allclose(singles.sum(), len(summary.cards) * summary.rows)


def test_rounded_counts_answer_nearly_as_exact_ones_do(summaries, rounded):
    exact, given = combine(summaries).selection, combine(rounded).selection
    for size in (1, 2, 3):
        rows, few = exact.completed(size), given.completed(size)
        best = np.argsort(-few.score[:2], axis=1)[:, :5]
        held = np.take_along_axis(rows.score[:2], best, axis=1).sum(axis=1)
        assert (held / np.sort(rows.score[:2], axis=1)[:, -5:].sum(axis=1) > 0.6).all()
        assert (few.high - few.low).mean() > (rows.high - rows.low).mean()


def test_the_run_says_what_was_lost_and_is_saved(rounded, tmp_path):
    found = combine(rounded).selection
    notes = [note for note in found.cohorts.notes if "multiples of 10" in note]
    assert len(notes) == 4
    found.save(tmp_path / "run")
    again = Selection.load(tmp_path / "run")
    assert again.best_sets() == found.best_sets()
    assert np.array_equal(again.book.measure.tables.effective, found.book.measure.tables.effective)


def test_one_site_may_round_while_others_do_not(summaries, rounded):
    found = combine([rounded[0], *summaries[1:]]).selection
    tables = found.book.measure.tables
    assert tables.rows_worth(3)[0] < tables.by_class.sum(axis=1)[0]
    assert (tables.rows_worth(3)[1:] == tables.by_class.sum(axis=1)[1:]).all()


def test_rounded_files_are_checked(rounded, tmp_path):
    write_summary(rounded[3], tmp_path / "va.misfeat")
    again = read_summary(tmp_path / "va.misfeat")
    assert again.min_cell == 10
    assert np.array_equal(again.tables, rounded[3].tables)
    whole = (tmp_path / "va.misfeat").read_bytes()
    refused(forged(whole, lambda held: held.update(min_cell=7)), tmp_path, "not rounded")
    refused(forged(whole, lambda held: held.update(min_cell=1)), tmp_path, "more or fewer counts")
    refused(forged(whole, lambda held: held.update(min_cell=True)), tmp_path, "fewest rows")


def test_a_person_reads_that_counts_are_rounded(rounded):
    said = "\n".join(told(rounded[3]))
    assert "All counts are multiples of 10" in said
    assert "Smallest count: 10." in said
    assert "Rows: about" in said


def test_rounding_costs_less_the_more_rows_there_are():
    assert worth(300.0, np.array([10.0]), 1)[0] == 300
    few, many = (worth(n, np.array([250.0]), 10)[0] / n for n in (300.0, 100_000.0))
    assert few < 0.2
    assert many > 0.95


def test_a_site_of_very_few_rows_cannot_tell_anything():
    from misfeat.sites import agree, propose

    table = {"a": [0, 1] * 20, "ill": [False, True] * 20}
    codebook, _ = agree([propose(table, "ill", "north")])
    with pytest.raises(MisfeatError, match="too few rows"):
        summarise({"a": [0, 1], "ill": [False, True]}, codebook, "north", min_cell=10_000)
