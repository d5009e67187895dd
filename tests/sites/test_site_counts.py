from itertools import combinations, product

import numpy as np
import pytest

from misfeat import Coding, MisfeatError
from misfeat.sites import agree, propose, site_counts, summarise
from misfeat.sites.summary import margins

EXACT = {"share": "tables3", "min_cell": 1}


def drawn(n=400, seed=0):
    rng = np.random.default_rng(seed)
    table = {f"f{i}": rng.integers(0, 3, n) for i in range(7)}
    table["lab"] = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    table["sex"] = rng.choice(["f", "m"], n)
    table["ill"] = rng.random(n) < 0.3
    return table


@pytest.fixture(scope="module")
def book():
    return agree([propose(drawn(), "ill", "north")])[0]


def test_counts_are_those_of_the_rows(book):
    table = drawn()
    found = summarise(table, book, "north", **EXACT)
    places = [found.features.index(name) for name in ("f0", "f1", "sex")]
    assert places == [0, 1, 8]
    counts = found.tables[: 4 * 4 * 4]  # f0, f1, f2, each with a code for missing values
    by_hand = np.zeros((4, 4, 4, 2), dtype=int)
    np.add.at(by_hand, (table["f0"], table["f1"], table["f2"], table["ill"].astype(int)), 1)
    assert np.array_equal(counts.reshape(4, 4, 4, 2), by_hand)


def test_blocks_of_columns_count_the_same(book, monkeypatch):
    whole = summarise(drawn(), book, "north", **EXACT)
    monkeypatch.setattr(site_counts, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(site_counts, "MOST_CELLS", 3000)
    told = []
    parts = summarise(drawn(), book, "north", **EXACT, progress=lambda *said: told.append(said[1:]))
    assert np.array_equal(whole.tables, parts.tables)
    assert np.array_equal(whole.by_class, parts.by_class)
    assert told[-1][1] > 10
    assert told[-1][0] == told[-1][1]


def test_smaller_tables_follow_from_larger_ones(book):
    triples, pairs = (
        summarise(drawn(), book, "north", share=f"tables{n}", min_cell=1) for n in (3, 2)
    )
    assert np.array_equal(margins(triples.tables, triples.cards, 3), pairs.tables)


def test_a_column_that_is_not_there_was_never_recorded(book):
    table = {name: held for name, held in drawn().items() if name not in ("f3", "sex")}
    table["f2"] = np.full(400, np.nan)
    found = summarise(table, book, "north")
    assert found.features == ("f0", "f1", "f4", "f5", "f6", "lab")


def test_rows_and_values_are_counted_as_the_codebook_and_the_site_say(book):
    table = drawn()
    one = {"f0": table["f0"], "ill": table["ill"]}
    alone = summarise(one, book, "north", **EXACT)
    assert (alone.size, alone.tables.sum()) == (1, 400)
    codes = Coding(missing_values={"f0": [2]})
    found = summarise(one, book, "north", **EXACT, coding=codes)
    assert found.tables.sum(axis=1)[3] == (table["f0"] == 2).sum()
    sex = np.where(np.arange(400) < 5, "x", table["sex"])  # which the codebook does not name
    found = summarise({"sex": sex, "ill": table["ill"]}, book, "north", **EXACT)
    assert found.tables.sum(axis=1)[2] == 5
    ill = [None if i < 40 else bool(held) for i, held in enumerate(table["ill"])]
    assert summarise({**table, "ill": ill}, book, "north", **EXACT).rows == 360


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"f0": ["a", "b"] * 200}, "holds text values here, and is a number"),
        ({"ill": [None] * 400}, "missing in every row"),
        ({"ill": [0, 1] * 200}, "and is a flag in the codebook"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(book, change, match):
    with pytest.raises(MisfeatError, match=match):
        summarise({**drawn(), **change}, book, "north")
    with pytest.raises(MisfeatError, match=r"no value of the column reads so.$"):  # none is quoted
        summarise(
            {**drawn(), "f0": ["Ann Lee"] * 400},
            book,
            "north",
            coding=Coding(read={"f0": "number"}),
        )


def test_what_cannot_be_counted_is_refused(book):
    with pytest.raises(MisfeatError, match="none of the features"):
        summarise({"x": [0, 1], "ill": [True, False]}, book, "north")
    with pytest.raises(MisfeatError, match="share"):
        summarise(drawn(), book, "north", share="rows")
    with pytest.raises(MisfeatError, match="keeps every count back; it must be at most 1,000,000"):
        summarise(drawn(), book, "north", min_cell=10**20)


def test_a_class_that_the_codebook_does_not_name_is_refused():
    table = {"a": [0, 1] * 20, "grade": [1, 2] * 20}
    codebook = agree([propose(table, "grade", "north")])[0]
    with pytest.raises(MisfeatError, match=r"not name \(1\)"):
        summarise({"a": [0, 1, 0], "grade": [1, 2, 3]}, codebook, "north")


def test_counts_of_pairs_in_multiples_of_five_are_shared_if_nothing_else_is_asked_for(book):
    found = summarise(drawn(), book, "north")
    assert (found.share, found.min_cell, found.size) == ("tables2", 5, 2)
    assert not any((counts % 5).any() for counts in (found.by_class, *found.of_sizes()))


def test_every_set_lies_in_a_block():
    for n, size, most_cells in product([1, 2, 3, 7, 20], [1, 2, 3], [1, 600, 5**9, 10**30]):
        blocks = site_counts.covering_blocks([5] * n, size, most_cells)
        held = {chosen for block in blocks for chosen in combinations(block, min(size, n))}
        assert held >= set(combinations(range(n), min(size, n)))
        assert all(block == tuple(sorted(set(block))) for block in blocks)


def test_blocks_have_no_more_cells_than_they_may():
    blocks = site_counts.covering_blocks([5] * 20, 3, 5**9)
    assert max(map(len, blocks)) == 9
    assert len(blocks) == 35
