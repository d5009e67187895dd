"""Targets of a time and an event, through the public face; estimates against known values."""

import itertools

import numpy as np
import pandas as pd
import pytest

from misfeat import Coding, MisfeatError, SubgroupSelector
from misfeat.answers.performance import brier, concordance, fit_cox
from misfeat.cohorts import survival
from misfeat.cohorts.survival import CENSORED, EVENT, survival_ranks
from tests.cli.commands import run


def followed(n_rows, seed, censored=1.0, effect=1.2):
    """Three features, of which two change the hazard, two sites, and censoring by site."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, 2, (3, n_rows))
    site = np.where(rng.random(n_rows) < 0.5, "north", "south")
    until = rng.exponential(1.0 / np.exp(effect * a + effect / 2 * b - 1.0))
    ended = rng.exponential(np.where(site == "north", 4.0, 2.0) / max(censored, 1e-9))
    event = (until <= ended).astype(int)
    time = np.round(np.where(event == 1, until, ended), 3)
    return {"a": a, "b": b, "c": c, "site": site, "time": time, "event": event}


def test_without_censoring_scores_are_those_of_the_class_event_before_the_horizon():
    table = followed(400, 1, censored=0.0)
    plain = {name: table[name] for name in ("a", "b", "c", "site")}
    at = Coding(bins={"time": [0.8]})
    times = SubgroupSelector(groups="site", size=2, coding=at).fit(table, ("time", "event"))
    early = {**plain, "early": (table["time"] <= 0.8).astype(int)}
    classes = SubgroupSelector(groups="site", size=2).fit(early, "early")
    assert times.cohorts_.horizons == (0.8,)
    for column in ("score", "low", "high"):
        found, expected = (s.scores()[column].to_numpy() for s in (times, classes))
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_censored_rows_are_stood_for_by_those_that_were_followed():
    at = Coding(bins={"time": [0.5, 1.0, 2.0]})
    shares = []
    for censored in (0.0, 2.0):
        table = followed(40_000, 2, censored)
        fit = SubgroupSelector(groups="site", size=2, coding=at).fit(table, ("time", "event"))
        shares.append([fit.score_of(site, ["a", "b"]) for site in ("north", "south")])
    assert 1 - table["event"].mean() > 0.4
    np.testing.assert_allclose(shares[0], shares[1], atol=0.012)


def test_arrays_as_scikit_survival_makes_them_give_the_same_as_columns():
    table = followed(300, 3)
    X = {name: table[name] for name in ("a", "b", "c")}
    fields = [("dead", bool), ("days", float)]
    y = np.array(list(zip(table["event"] == 1, table["time"], strict=True)), dtype=fields)
    arrays = SubgroupSelector(size=2).fit(X, y)
    whole = {**X, "d": table["event"], "t": table["time"]}
    columns = SubgroupSelector(size=2).fit(whole, ("t", "d"))
    assert list(arrays.top_k()["score"]) == list(columns.top_k()["score"])
    assert list(columns.feature_names_in_) == ["a", "b", "c"]
    kept = columns.transform(whole)
    assert set(kept) == set(columns.get_feature_names_out())


def test_survival_is_kaplan_and_meiers():
    # Freireich et al. (Blood 21, 1963), remission in weeks under 6-mercaptopurine.
    times = "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+"
    weeks = np.array([int(time.rstrip("+")) for time in times.split()])
    states = np.array([CENSORED if "+" in time else EVENT for time in times.split()])
    ranks = survival_ranks(weeks, states)
    counts = survival.counts_of(ranks, np.ones(len(ranks)), 36 * survival.STATES)
    found = survival.survival_of(counts)
    expected = {6: 0.857, 7: 0.807, 10: 0.753, 13: 0.690, 16: 0.627, 22: 0.538, 23: 0.448}
    for week, share in expected.items():
        assert found.free[week] == pytest.approx(share, abs=5e-4)
        assert found.incidence[week] == pytest.approx(1 - share, abs=5e-4)
    assert np.sqrt(found.variance[23]) == pytest.approx(0.1346, abs=5e-4)  # Greenwood
    for horizon in (6, 12, 23, 30):  # those followed stand for all
        weights = survival.weights_at(counts, horizon)[ranks]
        assert weights.sum() == pytest.approx(len(ranks))
        share = weights[(states == EVENT) & (weeks <= horizon)].sum() / len(ranks)
        assert share == pytest.approx(found.incidence[horizon])


def test_an_event_that_rules_the_other_out_is_known_and_not_the_event():
    states = np.array([EVENT, survival.OTHER, CENSORED, EVENT, survival.OTHER, CENSORED])
    ranks = survival_ranks(np.arange(6), states)
    counts = survival.counts_of(ranks, np.ones(6), 6 * survival.STATES)
    weights = survival.weights_at(counts, 4)[ranks]
    assert weights.tolist() == pytest.approx([1, 1, 0, 4 / 3, 4 / 3, 4 / 3])
    assert survival.survival_of(counts).incidence[4] == pytest.approx(1 / 6 + 4 / 6 * 1 / 3)
    table = followed(400, 4)
    cause = np.where(table["event"] == 0, "censored", np.where(table["c"] == 1, "other", "relapse"))
    selector = SubgroupSelector(size=1).fit({**table, "event": cause}, ("time", "event", "relapse"))
    about = {audit.column: audit.treatment for audit in selector.cohorts_.columns}
    assert about["event"] == "event relapse, ruled out by 'other'"
    assert tuple(selector.top_k()["features"][0]) == ("c",)


def test_frequencies_are_rows_written_out():
    table = followed(200, 5)
    times = np.random.default_rng(0).integers(1, 4, 200)
    written = {name: np.repeat(values, times) for name, values in table.items()}
    repeated = SubgroupSelector(groups="site", size=2).fit(written, ("time", "event"))
    weighed = SubgroupSelector(groups="site", size=2, weights="frequency")
    weighed.fit({**table, "w": times}, ("time", "event"), sample_weight="w")
    assert repeated.top_k().equals(weighed.top_k())


@pytest.mark.parametrize(
    ("change", "y", "words"),
    [
        ({"time": -1.0}, ("time", "event"), "'time' holds -1"),
        ({}, ("site", "event"), "The time 'site' holds text values"),
        ({"event": 0}, ("time", "event"), "all are censored"),
        ({"event": "dead"}, ("time", "event"), "--event event=dead"),
        ({}, ("time", "site"), "it must be 1 where the event happened"),
        ({}, ("time", "sited"), "no column 'sited'"),
        ({}, ("time", "event", "dead"), "never is dead"),
        ({}, ("time", "time"), "cannot be the time"),
    ],
)
def test_what_is_no_time_or_event_is_named(change, y, words):
    table = followed(60, 6)
    for name, value in change.items():
        table[name] = np.where(np.arange(60) == 3, value, table[name]) if name == "time" else value
        table[name] = np.broadcast_to(table[name], 60)
    with pytest.raises(MisfeatError, match="(?i)" + words.replace("(", r"\(")):
        SubgroupSelector(size=1).fit(table, y)


def test_a_time_is_no_plain_number():
    with pytest.raises(MisfeatError, match="measure='mutual_info'"):
        SubgroupSelector(measure="r2").fit(followed(60, 6), ("time", "event"))


def test_horizons_end_where_a_subgroup_was_no_longer_followed():
    table = followed(600, 7, censored=0.3)
    short = (table["site"] == "south") & (table["time"] > 0.4)
    table["event"] = np.where(short, 0, table["event"])
    table["time"] = np.where(short, 0.4, table["time"])
    with pytest.warns(UserWarning, match="site=south was not followed for longer"):
        selector = SubgroupSelector(groups="site", size=1).fit(table, ("time", "event"))
    assert max(selector.cohorts_.horizons) < 0.4
    at = Coding(bins={"time": [3.0]})
    with pytest.raises(MisfeatError, match="site=south was not followed for long"):
        SubgroupSelector(groups="site", size=1, coding=at).fit(table, ("time", "event"))


def test_a_subgroup_without_events_is_named():
    table = followed(600, 8)
    table["event"] = np.where(table["site"] == "south", 0, table["event"])
    with pytest.warns(UserWarning, match="single value in the subgroup 'site=south'"):
        selector = SubgroupSelector(groups="site", size=1).fit(table, ("time", "event"))
    assert set(selector.top_k()["subgroup"]) == {"site=north"}


def test_few_events_are_said():
    table = followed(400, 13)
    rare = (table["site"] == "south") & (np.arange(400) % 20 > 0)
    table["event"] = np.where(rare, 0, table["event"])
    selector = SubgroupSelector(groups="site", size=1).fit(table, ("time", "event"))
    found = " ".join(selector.cautions()["sentence"])
    assert "Few rows with the event, or without it, by the last horizon of 'time'" in found


def test_a_copy_of_the_time_is_a_suspect():
    table = followed(400, 12)
    table["copy"] = np.round(table["time"], 1)
    selector = SubgroupSelector(size=1, exclude="suspects").fit(table, ("time", "event"))
    assert "leaves out 'copy'" in selector.cohorts_.notes[-1]
    assert "copy" not in selector.cohorts_.features


def test_answers_of_a_saved_run_are_those_of_the_fit(tmp_path):
    selector = SubgroupSelector(groups="site", size=2).fit(followed(400, 9), ("time", "event"))
    selector.save(tmp_path / "run")
    loaded = SubgroupSelector.load(tmp_path / "run")
    assert loaded.cohorts_.equals(selector.cohorts_)
    assert str(loaded.answer()) == str(selector.answer())
    assert "concordance (Uno's C)" in str(loaded.answer())
    cells = loaded.why("north", ["a"])
    assert {label[0] for label in cells["class"]} == {"<", ">"}


@pytest.mark.slow
def test_the_command_line_takes_an_event_and_the_report_draws_its_course(tmp_path):
    table = followed(300, 10)
    table["event"] = np.where(table["event"] == 1, "dead", "alive")
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    out = str(tmp_path / "run")
    said = ["run", str(tmp_path / "t.csv"), "--target", "time", "--by", "site", "--size", "1"]
    answer = run(*said, "--event", "event=dead", "--out", out).stdout
    assert "of the uncertainty about time" in answer
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "How long rows stay without the event" in page
    assert 'event = "event=dead"' in (tmp_path / "run" / "run.toml").read_text(encoding="utf-8")
    assert "--event event=dead" in run(*said, "--event", "event").stderr


def test_slopes_of_a_cox_model_solve_its_equations():
    table = followed(300, 11)
    bins = np.unique(table["time"], return_inverse=True)[1]
    ranks, cells = survival_ranks(bins, table["event"]), 2 * table["a"] + table["b"]
    design = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    log_hazard = fit_cox(design, cells, ranks, np.ones(300)).log_hazard
    slopes = np.array([log_hazard[2] - log_hazard[0], log_hazard[1] - log_hazard[0]])
    X, hazard = design[cells], np.exp(log_hazard[cells])
    gradient = -slopes  # of the penalty
    for row in np.flatnonzero(table["event"] == 1):
        at_risk = bins >= bins[row]
        gradient = gradient + X[row] - np.average(X[at_risk], axis=0, weights=hazard[at_risk])
    np.testing.assert_allclose(gradient, 0, atol=1e-4)
    assert 0.7 < slopes[0] < 1.7


def test_concordance_and_brier_score_are_those_of_all_pairs_and_rows(rng):
    bins, score = rng.integers(0, 12, 60), np.round(rng.random(60), 1)
    ranks, weights = survival_ranks(bins, np.full(60, EVENT)), np.ones(60)
    pairs = [
        (score[i] > score[j]) + 0.5 * (score[i] == score[j])
        for i, j in itertools.permutations(range(60), 2)
        if bins[i] < bins[j] and bins[i] <= 8
    ]
    assert concordance(score, ranks, weights, 8) == pytest.approx(np.mean(pairs))
    chances = np.tile(score[:, None], 12)
    truth = [np.mean(((bins <= end) - score) ** 2) for end in range(4)]
    expected = np.average(truth, weights=[1, 1, 2, 1])
    assert brier(chances, ranks, weights, 3, np.array([1, 2, 4, 5, 6])) == pytest.approx(expected)
