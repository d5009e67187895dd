from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import MisfeatError, Selection
from misfeat.answers.set_cells import explanation
from misfeat.answers.top_sets import best_sets
from misfeat.information.count_tables import scores_of_tables, table_starts
from misfeat.lattice.levels import level, rank
from misfeat.runtime import file_system
from misfeat.sites import agree, combine, propose, read_summary, summarise, write_summary
from misfeat.sites.combination import with_hidden_classes
from misfeat.sites.rounding import (
    chance_of,
    fitted_tables,
    rerounded,
    rounded_from,
    rounded_summary,
)
from misfeat.sites.summary import disclosed, margins
from tests.sites.conftest import exact_summaries
from tests.sites.test_files import forged, refused


@pytest.fixture(scope="module")
def rounded(summaries):
    return [rounded_summary(summary, 10) for summary in summaries]


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
    table = hospitals["cleveland"]
    again = summarise(table, codebook, "cleveland", share="tables3", min_cell=10)
    assert np.array_equal(again.tables, rounded[0].tables)
    pairs = summarise(table, codebook, "cleveland", min_cell=10)
    assert np.array_equal(pairs.tables, rounded[0].smaller[1])


def test_fitted_tables_have_the_smaller_ones_in_common(rounded):
    for summary in rounded:
        singles, pairs, triples = fitted_tables(summary)
        assert np.allclose(margins(pairs, summary.cards, 2, np.inf), singles, atol=1e-6)
        off = np.abs(margins(triples, summary.cards, 3, np.inf) - pairs)
        assert off.max() < 0.05 * summary.rows
        assert off.mean() < 1e-3 * summary.rows
        assert np.allclose(singles.sum(), len(summary.cards) * summary.rows)


@pytest.mark.slow
def test_rounded_counts_answer_nearly_as_exact_ones_do(summaries, rounded):
    exact, given = combine(summaries).selection, combine(rounded).selection
    for size in (1, 2, 3):
        rows, few = exact.completed(size), given.completed(size)
        best = np.argsort(-few.score[:2], axis=1)[:, :5]
        held = np.take_along_axis(rows.score[:2], best, axis=1).sum(axis=1)
        assert (held / np.sort(rows.score[:2], axis=1)[:, -5:].sum(axis=1) > 0.6).all()
        assert (few.high - few.low).mean() > (rows.high - rows.low).mean()


def test_rounding_is_not_taken_for_interactions(summaries, hospitals, codebook):
    exact = combine(summaries).selection
    given = [summarise(table, codebook, site) for site, table in hospitals.items()]
    assert {one.min_cell for one in given} == {5}
    rounded = combine(given).selection
    assert rounded.set_scores.listed().together == []
    whole = exact.set_scores.measure.whole
    for size in (1, 2, 3):
        few, rows = rounded.completed(size), exact.completed(size)
        off = np.abs(few.score - rows.score).mean(axis=1) / whole
        assert (off < [0.1, 0.2, 0.1, 0.1]).all()  # hungarian has two of five classes


def test_the_run_says_what_was_lost_and_is_saved(rounded, tmp_path):
    found = combine(rounded).selection
    notes = [note for note in found.cohorts.notes if "multiples of 10" in note]
    assert len(notes) == 4
    found.save(tmp_path / "run")
    again = Selection.load(tmp_path / "run")
    assert best_sets(again) == best_sets(found)
    for name in ("effective", "bias", "noise"):
        ours, theirs = (getattr(one.set_scores.measure.tables, name) for one in (found, again))
        assert np.array_equal(ours, theirs)


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
    said = "\n".join(disclosed(rounded[3]))
    assert "All counts are multiples of 10" in said
    assert "Smallest count: 10." in said
    assert "Rows: about" in said


def test_the_key_that_signs_is_what_chance_is_drawn_from(
    hospitals, codebook, tmp_path, monkeypatch
):
    from misfeat.sites import make_key, read_key

    modes, move = [], file_system.move
    monkeypatch.setattr(
        file_system, "move", lambda *paths: (modes.append(paths[0].stat().st_mode), move(*paths))
    )
    make_key(tmp_path / "site.key")
    assert modes == [(tmp_path / "site.key").stat().st_mode] == [0o100600]  # at no time readable
    key = read_key(tmp_path / "site.key")
    found = [
        summarise(hospitals["va"], codebook, "va", min_cell=10, key=one) for one in (key, key, None)
    ]
    assert np.array_equal(found[0].tables, found[1].tables)
    assert not np.array_equal(found[0].tables, found[2].tables)


def test_a_site_of_very_few_rows_cannot_tell_anything():
    table = {"a": [0, 1] * 20, "ill": [False, True] * 20}
    codebook, _ = agree([propose(table, "ill", "north")])
    with pytest.raises(MisfeatError, match="too few rows"):
        summarise({"a": [0, 1], "ill": [False, True]}, codebook, "north", min_cell=10_000)


def test_a_site_whose_counts_were_all_rounded_down_is_answered_by_the_others(summaries, rounded):
    nothing = replace(
        rounded[0],
        tables=rounded[0].tables * 0,
        smaller=tuple(table * 0 for table in rounded[0].smaller),
    )
    found = combine([nothing, *summaries[1:]]).selection
    assert np.isfinite(found.completed(2).score).all()


def test_rounded_tables_of_more_rows_than_there_are_are_refused(rounded, tmp_path):
    odd = rounded[0].tables.copy()
    odd[7, 0] = 10**6
    write_summary(replace(rounded[0], tables=odd), tmp_path / "odd.misfeat")
    with pytest.raises(MisfeatError, match="have more rows than it says"):
        read_summary(tmp_path / "odd.misfeat")


def test_cells_of_rounded_tables_are_told_with_care(summaries, rounded):
    exact = explanation(combine(summaries).selection, "cleveland", ["cp", "thal"])
    told_so = combine([rounded[0], *summaries[1:]]).selection
    given = explanation(told_so, "cleveland", ["cp", "thal"])
    assert all(cell.worth is None for cell in exact.cells)
    assert all(cell.worth < cell.rows for cell in given.cells)
    widths = [
        max(cell.most.high - cell.most.low for cell in found.cells[:3]) for found in (exact, given)
    ]
    assert widths[1] > 1.2 * widths[0]
    assert all("about" in words for words in given.sentences() if "against" in words)


@given(st.integers(0, 2**32), st.booleans())
def test_chance_of_a_line_is_that_of_the_line_alone(seed, emptied):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 30, (3, 2, 2))
    if emptied:
        table[1] = 0
    found = chance_of(table, ["b", "a"], b"secret")
    turned = chance_of(table.transpose(1, 0, 2), ["a", "b"], b"secret").transpose(1, 0, 2)
    wider = chance_of(np.insert(table, 1, 0, axis=0), ["b", "a"], b"secret")[[0, 2, 3]]
    assert np.array_equal(found, turned)
    assert np.array_equal(found, wider)
    assert ((found >= 0) & (found < 1)).all()


def test_codebooks_with_other_columns_tell_the_same_of_those_that_they_share():
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.integers(0, 3, 150) for i in range(4)} | {"ill": rng.random(150) < 0.4}
    codebook, _ = agree([propose(table, "ill", "north")])
    told = summarise(table, codebook, "north", min_cell=10)
    for left_out in range(4):
        features = tuple(one for n, one in enumerate(codebook.features) if n != left_out)
        fewer = replace(codebook, features=features[::-1])
        again = summarise(table, fewer, "north", min_cell=10)
        assert np.array_equal(again.by_class, told.by_class)
        lines = told.smaller[0].reshape(4, 4, 2)[[n for n in range(4) if n != left_out]]
        assert np.array_equal(again.smaller[0].reshape(3, 4, 2)[::-1], lines)


def test_what_rounding_does_to_a_hidden_class_is_tried_out_as_it_happens():
    """Scores are as far below chance, on the mean, where it is tried out as where it is done."""
    rng, least = np.random.default_rng(3), 12
    ill = {"north": np.arange(300) < 100, "west": np.arange(300) < 4}
    tables = {
        site: {**{name: rng.integers(4, size=300) for name in "abc"}, "ill": held}
        for site, held in ill.items()
    }
    codebook, _ = agree([propose(table, "ill", site) for site, table in tables.items()])
    north, west = exact_summaries(tables, codebook)
    starts = table_starts(level(3, 2), west.cards)

    def score(by_class, pairs):
        return scores_of_tables(pairs, by_class.astype(float), starts).above_chance.mean()

    done, tried = [], []
    rows, exact = west.by_class.astype(float), [one.astype(float) for one in west.of_sizes()]
    for seed in range(150):
        told = rounded_summary(west, least, seed.to_bytes(2))
        if np.count_nonzero(told.by_class) == 1:
            _, told = with_hidden_classes([north, told])
            done.append(score(told.by_class, fitted_tables(told)[1]))
        believed, again = rerounded(rows, exact, west.cards, seed, least=least)
        if believed.min() < least:
            tried.append(score(believed, again[1]))
    assert min(len(done), len(tried)) > 50
    assert np.mean(tried) == pytest.approx(np.mean(done), rel=0.05)


@given(st.integers(0, 10**6), st.integers(2, 100), st.integers(0, 2**64))
def test_rounding_is_off_by_less_than_a_step(count, least, key):
    found = int(rounded_from(key, count, least, "a"))
    assert found % least == 0
    assert abs(found - count) < least
    assert found == int(rounded_from(key, count, least, "a"))


def test_rounding_is_right_on_the_mean():
    found = rounded_from(1, np.full(40_000, 13), 10, "many")
    assert set(np.unique(found)) == {10, 20}
    assert abs(found.mean() - 13) < 4 * 10 * np.sqrt(0.21 / 40_000)


RARE = 6


@pytest.fixture(scope="module")
def sites():
    """Three sites; the last has few rows of a class that the others have many of."""
    rng = np.random.default_rng(3)
    tables = {}
    for site, ill in (("north", 100), ("south", 120), ("west", RARE)):
        target = np.arange(300) < ill
        table = {name: (rng.random(300) < 0.3 + 0.4 * target).astype(int) for name in "abcd"}
        tables[site] = {**table, "ill": target}
    codebook, _ = agree([propose(table, "ill", site) for site, table in tables.items()])
    return exact_summaries(tables, codebook)


@pytest.fixture(scope="module")
def hiding(sites):
    """The same in multiples of 20, where the last site tells of one class only."""
    told = [
        next(
            one
            for one in (rounded_summary(site, 20, bytes([n])) for n in range(50))
            if (np.count_nonzero(one.by_class) > 1) == (site.site != "west")
        )
        for site in sites
    ]
    assert np.count_nonzero(told[-1].by_class) == 1
    return told


def test_a_class_that_rounding_hides_is_taken_to_have_a_few_rows(hiding):
    believed = with_hidden_classes(hiding)
    for one, other in zip(hiding[:-1], believed[:-1], strict=True):
        assert np.array_equal(one.by_class, other.by_class)
    west = believed[-1].by_class[hiding[-1].by_class == 0]
    assert 0 < west.max() < 20


def test_a_class_that_nobody_tells_of_and_exact_counts_stay_as_they_are(sites, hiding):
    for one, other in zip(sites, with_hidden_classes(sites), strict=True):
        assert np.array_equal(one.by_class, other.by_class)
    believed = with_hidden_classes(hiding)
    nobody = ~np.any([one.by_class > 0 for one in hiding], axis=0)
    assert not any(one.by_class[nobody].any() for one in believed)


def test_a_site_that_tells_of_one_class_is_answered_by_the_others_and_stays_open(hiding, tmp_path):
    found = combine(hiding)
    selection = found.selection
    west = selection.completed(2)
    place = [one.site for one in found.taken].index("west")
    assert np.isfinite(west.score).all()
    assert (west.high[place] > west.score[place]).all()
    assert (west.high[place] > 0.05).all()
    assert any("worth 1 and 1 and 1" in str(note) for note in selection.cohorts.notes)
    selection.save(tmp_path / "run")
