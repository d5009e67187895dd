from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.alternatives import alternative_sets
from misfeat.answers.collecting import feature_worths
from misfeat.answers.enough import enough_features
from misfeat.answers.features import feature_values
from misfeat.answers.stability import stability_of
from misfeat.answers.top import best_sets
from misfeat.answers.why import explanation
from misfeat.lattice import level
from misfeat.show.first_screen import first_screen
from misfeat.show.report import Report
from misfeat.show.report.gather import gather


@pytest.fixture(scope="module")
def held(report):
    return json.loads(report.json())


def test_the_sets_are_those_of_top_k(fitted, held):
    best = best_sets(fitted.selection_)
    found = [one for row in held["subgroups"] for one in row["best_sets"]]
    assert [tuple(one["features"]) for one in found] == [one.features for one in best]
    assert [one["score"] for one in found] == [one.score for one in best]


def test_what_is_worth_most_comes_first_over_all_cohorts(fitted, held):
    gains = [row["gain"] for row in held["worth_collecting"]]
    assert gains == sorted(gains, reverse=True)
    assert len(gains) == len(feature_worths(fitted.selection_))


@pytest.mark.slow
def test_cautions_are_those_of_the_size_that_is_reported(heart_path):
    selector = SubgroupSelector("site", size=3, completer="interactions", estimate="sample")
    selector.fit(str(heart_path), "num")
    for size, expected in ((3, True), (1, False)):
        held = json.loads(selector.report(size=size, validate=False).json())
        assert any("combinations of values" in one["words"] for one in held["cautions"]) == expected


def test_halves_of_characters_are_replaced():
    table = {"a": [0, 0, 1, 1], "y": [0, 0, 1, 1]}
    report = SubgroupSelector(size=1).fit(table, "y").report(title="a\udfff")
    assert json.loads(report.json())["title"] == "a?"
    assert report.html().encode()


def test_shares_of_recorded_rows_are_none_where_a_feature_was_never_recorded(fitted, held):
    never = [[share is None for share in row] for row in held["recorded"]]
    assert np.array_equal(never, fitted.cohorts_.missing)


def test_sporadic_gaps_count_as_shares():
    table = {"a": [0, 1, None, 1] * 5, "b": [0, 1, 1, 0] * 5, "y": [0, 1, 1, 0] * 5}
    held = json.loads(SubgroupSelector(size=1).fit(table, "y").report().json())
    assert held["recorded"] == [[0.75, 1.0]]


@pytest.mark.parametrize("name", ["score", "low", "high"])
def test_the_lattice_holds_every_score_up_to_one_feature_more(fitted, held, name):
    assert [one["size"] for one in held["lattice"]["levels"]] == [1, 2, 3]
    for one in held["lattice"]["levels"]:
        packed = np.frombuffer(base64.b64decode(one[name]), dtype="<f4")
        kept = getattr(fitted.selection_.completed(one["size"]), name)
        assert packed.reshape(kept.shape) == pytest.approx(kept, abs=1e-6)
        assert kept.shape[1] == len(level(7, one["size"]))


def test_trust_is_what_validate_says(fitted, held):
    fitted.validate()
    assert held["trust"]["sentence"] == fitted.validation_
    assert [row["subgroup"] for row in held["trust"]["rows"]] == list(fitted.cohorts_.names)


def test_without_validation_the_report_says_so(fitted):
    held = json.loads(fitted.report(validate=False).json())
    assert held["trust"] == {
        "sentence": "This was not checked: the report was made without validation.",
        "rows": [],
    }


def test_what_may_mislead_is_said():
    table = {"a": [0, 1] * 60, "y": [0, 0, 1, 1] * 30}
    report = SubgroupSelector(size=1).fit(table, "y").report()
    cautions = json.loads(report.json())["cautions"]
    assert [one["words"].split(",")[0].split(":")[0] for one in cautions] == [
        "No set tells more than 2 % of the target 'y' in 'all rows'; the order of sets there may be"
        " chance.",
        "There is one subgroup only",
    ]
    assert "To keep in mind" in report.html()


def test_settings_are_those_that_differ_from_the_defaults(held):
    assert held["settings"] == {"groups": "'cohort'", "size": "2", "k": "4", "random_state": "0"}


def test_costs_rank_what_is_worth_collecting(fitted):
    feature = feature_worths(fitted.selection_)[0].feature
    held = json.loads(fitted.report(costs={feature: 1000}, validate=False).json())
    assert held["worth_collecting"][-1]["feature"] == feature


def test_squared_correlations_have_a_report_too():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    table = {"g": ["u", "v", "w"] * 100, "a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}
    table["b"] = np.where(np.array(table["g"]) == "u", np.nan, table["b"])
    y = x[:, 0] + x[:, 1] + rng.normal(size=300)
    selector = SubgroupSelector("g", size=2, measure="r2").fit(table, y)
    held = json.loads(selector.report().json())
    assert held["unit"] == "R²"
    assert held["subgroups"][0]["missing"] == ["b"]


@pytest.mark.parametrize(
    ("estimate", "trust"),
    [("population", "With half of the rows left out, the"), ("sample", "nothing was predicted")],
)
def test_a_table_without_gaps_has_nothing_to_collect(estimate, trust):
    table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    report = SubgroupSelector(size=1, estimate=estimate).fit(table, "y").report()
    assert json.loads(report.json())["worth_collecting"] == []
    assert "there is nothing to collect" in report.html()
    assert trust in report.html()


def test_a_loaded_selector_makes_the_same_report(fitted, held, tmp_path):
    fitted.save(tmp_path / "run")
    again = json.loads(SubgroupSelector.load(tmp_path / "run").report(title="A report").json())
    del again["created"]
    assert again == {name: value for name, value in held.items() if name != "created"}


def test_a_value_called_missing_is_a_value():
    table = {"a": ["missing", "taken"] * 10, "b": [0, 1, 1, 0] * 5, "y": [0, 1, 1, 0] * 5}
    held = json.loads(SubgroupSelector(size=1).fit(table, "y").report().json())
    assert held["recorded"] == [[1.0, 1.0]]


def test_answers_are_those_of_the_first_screen(fitted, held):
    screen = first_screen(fitted.selection_)
    assert held["answer"] == screen.whole
    assert [row["sentence"] for row in held["subgroups"]] == [
        one.sentence for one in screen.subgroups
    ]
    assert held["collecting"] == list(screen.collecting)


def test_every_question_has_the_numbers_that_python_has(fitted, held):
    selection = fitted.selection_
    for row in held["subgroups"]:
        name = row["subgroup"]
        values = feature_values(selection, name)
        assert [one["alone"] for one in row["features"]] == [one.alone for one in values]
        (enough,) = enough_features(selection, name)
        assert row["enough"]["size"] == enough.size
        assert len(row["enough"]["steps"]) == min(enough.size + 1, len(enough.steps))
        alternatives = alternative_sets(selection, name, row["why"]["features"])
        assert [one["score"] for one in row["alternatives"]] == [one.score for one in alternatives]
        why = explanation(selection, name, row["why"]["features"])
        assert [cell["rows"] for cell in row["why"]["cells"]] == [cell.rows for cell in why.cells]
    stability = stability_of(selection)
    found = [one["frequency"] for row in held["subgroups"] for one in row["stability"]["sets"]]
    assert found == [one.frequency for one in stability.sets]


def test_what_chance_gives_is_what_is_taken_off(fitted, held):
    measure = fitted.selection_.set_scores.measure
    number = {name: at for at, name in enumerate(fitted.cohorts_.features)}
    seen = 0
    for cohort, row in enumerate(held["subgroups"]):
        for one in row["best_sets"]:
            if one["source"] == "recorded":
                members = np.array([[number[name] for name in one["features"]]])
                above = measure.of_subsets(cohort, members, None)[0]
                assert one["observed"] - one["chance"] == pytest.approx(above, abs=1e-9)
                seen += 1
            else:
                assert one["chance"] is None
    assert seen


def test_advice_is_spelled_as_whoever_made_the_report_spells_it():
    table = {"g": ["u", "v"] * 60, "a": [0, 1, 2, 3] * 30, "y": [0, 0, 1, 1] * 30}
    table["b"] = [0 if group == "v" else i % 7 for i, group in enumerate(table["g"])]
    selection = SubgroupSelector("g", size=1).fit(table, "y").selection_
    findings = gather(selection)
    for spell, words in ((str, "missing_values={'b': ...}"), (in_options, "--missing-values b")):
        held = json.loads(Report(findings, spell=spell).json())
        assert any(words in one["words"] for one in held["cautions"])


def in_options(setting):
    return f"--{setting.parameter.replace('_', '-')} {setting.column}"
