from __future__ import annotations

import sys
import zlib

import numpy as np
import pytest
from scipy.stats import chi2

from misfeat import MisfeatError, Selection
from misfeat.sites import Ledger, combine, read_summary, summarise, write_summary
from misfeat.sites.noise import noisy_summary, rho_spent, scales_of
from misfeat.sites.spending import rho_of
from misfeat.sites.telling import told
from tests.sites.simulating import simulated
from tests.sites.test_files import as_it_is, forged, refused

pytest.importorskip("opendp")


@pytest.fixture(scope="module")
def small():
    from misfeat.sites import agree, propose

    rng = np.random.default_rng(5)
    a = rng.integers(0, 3, 600)
    table = {"a": a, "b": rng.integers(0, 2, 600), "c": rng.integers(0, 3, 600)}
    table["ill"] = rng.random(600) < 0.2 + 0.25 * a
    return table, agree([propose(table, "ill", "north")])[0]


@pytest.fixture(scope="module")
def noisy(summaries):
    return [noisy_summary(one, 8.0, draw=simulated(n)) for n, one in enumerate(summaries)]


def test_noise_spends_what_was_promised():
    rho = rho_of(2.0, 1e-6)
    for n_features, size in ((1, 1), (2, 2), (12, 2), (13, 3)):
        assert rho_spent(scales_of(rho, n_features, size), n_features) == pytest.approx(rho)


def test_opendp_draws_noise_of_the_stated_deviation(small):
    table, codebook = small
    exact = summarise(table, codebook, "north")
    given = noisy_summary(exact, 2.0)
    assert given.noise.epsilon == 2.0
    for size, (held, true) in enumerate(zip(given.of_sizes(), exact.of_sizes(), strict=True), 1):
        off = (held - true).ravel() / given.noise.scales[size]
        assert abs(off.mean()) < 5.5 / np.sqrt(off.size)
        least, most = chi2.ppf([1e-7, 1.0 - 1e-7], off.size)
        assert least < (off**2).sum() < most
    assert abs(given.rows - 600) < 100


def test_asking_twice_draws_anew(small):
    table, codebook = small
    first, second = (summarise(table, codebook, "north", epsilon=2) for _ in range(2))
    assert not np.array_equal(first.tables, second.tables)


@pytest.mark.parametrize("share", ["tables3", "tables2"])
def test_no_exact_count_is_left_in_the_file(small, tmp_path, monkeypatch, share):
    much = 10_000  # so that a count without noise stands out, whatever chance draws
    monkeypatch.setattr("misfeat.sites.noise.secure_noise", lambda counts, *_: counts + much)
    table, codebook = small
    given = summarise(table, codebook, "north", share=share, epsilon=2)
    write_summary(given, tmp_path / "north.misfeat")
    again = read_summary(tmp_path / "north.misfeat")
    assert again.noise == given.noise
    assert again.rows == given.rows > much
    counts = [again.by_class, np.array(again.noise.classes), *again.of_sizes()]
    assert all((held >= much).all() for held in counts)


def test_noisy_files_are_checked(noisy, tmp_path):
    write_summary(noisy[3], tmp_path / "va.misfeat")
    whole = (tmp_path / "va.misfeat").read_bytes()
    again = read_summary(tmp_path / "va.misfeat")
    assert np.array_equal(again.tables, noisy[3].tables)
    assert again.by_class.tolist() == noisy[3].by_class.tolist()
    body = zlib.compress(noisy[3].tables.astype("<i4").tobytes())
    refused(forged(whole, as_it_is, body), tmp_path, "more or fewer counts")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda noise: noise.update(epsilon=1.0), "does not promise"),
        (lambda noise: noise.update(epsilon=-1.0), "epsilon"),
        (lambda noise: noise.update(epsilon="2"), "epsilon"),
        (lambda noise: noise.update(epsilon=True), "epsilon"),
        (lambda noise: noise.update(epsilon=1e300), "epsilon"),
        (lambda noise: noise.update(delta=0), "delta"),
        (lambda noise: noise.update(rho=noise["rho"] / 2), "does not spend"),
        (lambda noise: noise.update(all_rho=noise["rho"] / 2), "what was spent"),
        (lambda noise: noise.update(scales=noise["scales"][1:]), "scales"),
        (lambda noise: noise.update(scales=[0.0] * 4), "scales"),
        (lambda noise: noise["scales"].__setitem__(3, noise["scales"][3] * 2), "does not spend"),
        (lambda noise: noise.update(releases=-1), "releases"),
        (lambda noise: noise.pop("delta"), "delta"),
    ],
)
def test_a_forged_promise_is_refused(noisy, tmp_path, change, match):
    write_summary(noisy[3], tmp_path / "va.misfeat")
    whole = (tmp_path / "va.misfeat").read_bytes()
    refused(forged(whole, lambda held: change(held["noise"])), tmp_path, match)


def test_noise_that_is_taken_off_or_rounded_is_refused(noisy, tmp_path):
    write_summary(noisy[3], tmp_path / "va.misfeat")
    whole = (tmp_path / "va.misfeat").read_bytes()
    refused(forged(whole, lambda held: held.pop("noise")), tmp_path, "damaged")
    refused(forged(whole, lambda held: held.update(noise=None)), tmp_path, "damaged")
    refused(forged(whole, lambda held: held.update(min_cell=2)), tmp_path, "damaged")


def test_noisy_summaries_answer_and_say_what_was_lost(noisy, summaries, tmp_path):
    found = combine([*noisy[:2], *summaries[2:]], size=2).selection
    notes = [note for note in found.cohorts.notes if "epsilon = 8" in note]
    assert len(notes) == 2
    tables = found.book.measure.tables
    rows = tables.by_class.sum(axis=1)
    assert (tables.rows_worth(2)[:2] < rows[:2]).all()
    assert (tables.rows_worth(2)[2:] == rows[2:]).all()
    found.save(tmp_path / "run")
    assert Selection.load(tmp_path / "run").best_sets() == found.best_sets()


def test_more_epsilon_leaves_more(summaries):
    kept = [
        combine([noisy_summary(summaries[0], epsilon, draw=simulated(3))], size=2).selection
        for epsilon in (1.0, 8.0, 100.0)
    ]
    worth = [one.book.measure.tables.rows_worth(2)[0] for one in kept]
    assert worth[0] < worth[1] < worth[2]


def test_a_second_release_of_a_site_is_refused_with_what_both_spent(noisy, summaries):
    again = noisy_summary(summaries[0], 8.0, draw=simulated(9))
    found = combine([noisy[0], again, *summaries[1:]], size=1)
    (refusal,) = found.refused
    assert "another summary of the site 'cleveland'" in refusal.why
    assert "Together they have spent epsilon = 12" in refusal.why


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), 1e9, "2", True, 1e-9])
def test_an_epsilon_that_is_none_is_refused(small, epsilon):
    table, codebook = small
    with pytest.raises(MisfeatError, match="epsilon"):
        summarise(table, codebook, "north", epsilon=epsilon)


@pytest.mark.parametrize("delta", [0, 1, -1e-6, float("nan"), "small"])
def test_a_delta_that_is_none_is_refused(small, delta):
    table, codebook = small
    with pytest.raises(MisfeatError, match="delta"):
        summarise(table, codebook, "north", epsilon=2, delta=delta)


def test_a_delta_that_rows_make_worthless_is_refused(small):
    table, codebook = small
    many = {name: np.tile(held, 3) for name, held in table.items()}
    with pytest.raises(MisfeatError, match="promises nothing to 1,800 rows"):
        summarise(many, codebook, "north", epsilon=2, delta=1e-3)


def test_noise_and_rounding_do_not_go_together(small):
    table, codebook = small
    with pytest.raises(MisfeatError, match="cannot go together"):
        summarise(table, codebook, "north", epsilon=2, min_cell=5)


def test_too_few_rows_for_the_noise_are_refused(small):
    table, codebook = small
    exact = summarise({name: held[:3] for name, held in table.items()}, codebook, "north")
    with pytest.raises(MisfeatError, match="nothing is left but noise"):
        noisy_summary(exact, 0.01, draw=lambda counts, *_: counts - 5)


def test_without_opendp_the_extra_is_named_and_nothing_is_spent(small, monkeypatch, tmp_path):
    table, codebook = small
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.measurements", None)
    ledger = Ledger(tmp_path / "misfeat-budget.json")
    with pytest.raises(MisfeatError, match=r"misfeat\[sites\]"):
        summarise(table, codebook, "north", epsilon=2, ledger=ledger)
    assert ledger.releases() == ()


def test_a_person_reads_what_is_promised_and_spent(small, tmp_path):
    table, codebook = small
    ledger = Ledger(tmp_path / "misfeat-budget.json")
    for _ in range(2):
        given = summarise(table, codebook, "north", epsilon=1, ledger=ledger)
    said = "\n".join(told(given))
    assert "Every count has noise" in said
    assert "epsilon = 1, but for a chance of 1e-06" in said
    assert "at most 73% sure" in said
    assert "The 2 releases in the site's record have spent" in said
    assert "Rows: about" in said
    assert "Smallest count" not in said
    without = summarise(table, codebook, "north", epsilon=1)
    assert "keeps no record" in "\n".join(told(without))
