from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from misfeat import MisfeatError, Selection
from misfeat.sites import combine, read_summary, summarise, write_summary
from misfeat.sites.noise import noisy_summary
from misfeat.sites.rounding import rounded_summary
from misfeat.sites.scoring import joined_scores, scored_summary
from misfeat.sites.telling import told
from tests.sites.simulating import simulated
from tests.sites.test_files import forged, refused


@pytest.fixture(scope="module")
def scored(summaries):
    return [scored_summary(summary) for summary in summaries]


@pytest.fixture(scope="module")
def combined(scored):
    return combine(scored).selection


def test_scores_are_those_of_the_rows_rounded_to_what_a_row_weighs(summaries, scored):
    exact = combine(summaries).selection.book.measure
    for number, one in enumerate(scored):
        found = exact.of_levels(number, 1, 2, None)
        for size, scores in enumerate(found):
            own = scores[~np.isnan(scores)]
            assert np.abs(one.scores[size] * one.step - own).max() <= one.step / 2 + 1e-12
    assert scored[0].step == 1 / 303


def test_no_count_of_a_cell_is_in_it(hospitals, codebook, scored):
    one = summarise(hospitals["va"], codebook, "va", share="scores", min_cell=10)
    assert one.tables.size == 0
    assert not (one.by_class % 10).any()
    assert one.step == 10 / one.rows
    tables = summarise(hospitals["va"], codebook, "va", min_cell=10)
    assert np.array_equal(one.by_class, tables.by_class)
    assert len(one.scores[2]) == 220


def test_scores_alone_answer_nearly_as_rows_do(summaries, combined):
    rows = combine(summaries).selection
    for size in (1, 2, 3):
        exact, alone = rows.completed(size), combined.completed(size)
        assert (exact.predicted == alone.predicted).all()
        best = np.argsort(-alone.score, axis=1)[:, :5]
        held = np.take_along_axis(exact.score, best, axis=1).sum(axis=1)
        assert (held / np.sort(exact.score, axis=1)[:, -5:].sum(axis=1)).mean() > 0.85
        assert (alone.low <= alone.score).all()
        assert (alone.score <= alone.high).all()


def test_what_needs_counts_or_rows_says_so(combined):
    with pytest.raises(MisfeatError, match="only scores are at hand"):
        combined.why("va", ["cp"])
    with pytest.raises(MisfeatError, match="only scores of them are at hand"):
        combined.significance()
    with pytest.raises(MisfeatError, match="up to 3 features"):
        combined.completed(4)


def test_a_run_of_scores_is_saved_and_reported(combined, tmp_path):
    combined.save(tmp_path / "run")
    again = Selection.load(tmp_path / "run")
    assert again.best_sets() == combined.best_sets()
    assert "site=va" in combined.report().html()
    assert combined.worths()


def test_sites_that_share_tables_go_with_sites_that_share_scores(summaries, scored, combined):
    found = combine([scored[0], *summaries[1:]]).selection
    assert np.allclose(found.completed(2).score, combined.completed(2).score)
    with pytest.raises(MisfeatError, match="shared scores only"):
        combine(scored, estimate="sample")


def test_files_of_scores_are_checked(scored, tmp_path):
    write_summary(scored[3], tmp_path / "va.misfeat")
    again = read_summary(tmp_path / "va.misfeat")
    assert again.in_use == scored[3].in_use
    for one, other in zip(again.scores, scored[3].scores, strict=True):
        assert np.array_equal(one, other)
    whole = (tmp_path / "va.misfeat").read_bytes()
    assert len(whole) < 10_000
    refused(forged(whole, lambda held: held.update(counts="<u4")), tmp_path, "type of its scores")
    refused(forged(whole, lambda held: held.update(in_use=[99] * 12)), tmp_path, "codes in use")
    refused(forged(whole, lambda held: held.update(by_class=[1] * 5)), tmp_path, "larger than any")
    refused(
        forged(whole, lambda held: held.update(share="tables3")), tmp_path, "type of its counts"
    )


def test_a_person_reads_that_scores_alone_are_shared(scored):
    said = "\n".join(told(scored[3]))
    assert "Scores: 298, one for every set of up to 3 features" in said
    assert "no count but that of rows by class" in said


def test_rounded_counts_beside_scores_are_worth_no_more_than_beside_counts(summaries, scored):
    rounded = [rounded_summary(one, 20, b"k") for one in summaries[:3]]
    mixed = combine([*rounded, scored[3]]).selection
    alone = mixed.book.measure.alone
    tables = combine([*rounded, summaries[3]]).selection.book.measure.tables
    assert alone.noisy is None
    assert (alone.effective[:3] < [[one.rows] for one in rounded]).all()
    assert alone.effective[3].tolist() == [scored[3].rows] * 3
    assert np.allclose(alone.effective[:3], tables.effective[:3], rtol=0.6)
    notes = [note for note in mixed.cohorts.notes if "multiples of 20" in note]
    assert len(notes) == 3


def test_a_site_whose_class_was_rounded_away_is_not_taken_for_one_with_noise(summaries, scored):
    noisy = scored_summary(noisy_summary(summaries[0], 4.0, draw=simulated(1)))
    hidden = replace(scored[1], by_class=np.where(np.arange(len(scored[1].by_class)), 0, 200))
    alone, _ = joined_scores([noisy, hidden], noisy.codebook)
    assert alone.noisy.tolist() == [True, False]
