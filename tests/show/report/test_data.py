import base64
import json
import re
from itertools import combinations, product

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.feature_contributions import feature_values
from misfeat.answers.number_of_features import enough_features
from misfeat.answers.recording_gains import feature_worths
from misfeat.answers.set_cells import explanation
from misfeat.answers.stability import stability_of
from misfeat.answers.top_sets import alternative_sets, best_sets
from misfeat.cli.run_options import as_option
from misfeat.lattice.levels import level
from misfeat.show.answer_with_map import first_screen
from misfeat.show.report import data as report_module
from misfeat.show.report import page as page_module
from misfeat.show.report.data import make_report
from misfeat.show.report.page import script_data


@pytest.fixture(scope="module")
def held(report):
    return json.loads(report.json())


@pytest.mark.slow
def test_cautions_are_those_of_the_size_that_is_reported(heart_path):
    selector = SubgroupSelector("site", size=3, completer="interactions", estimate="sample")
    selector.fit(str(heart_path), "num")
    for size, expected in ((3, True), (1, False)):
        held = json.loads(selector.report(size=size, validate=False).json())
        assert any("combinations of values" in one["words"] for one in held["cautions"]) == expected


@pytest.mark.usefixtures("few_resamples")
def test_halves_of_characters_are_replaced():
    table = {"a": [0, 0, 1, 1], "y": [0, 0, 1, 1]}
    report = SubgroupSelector(size=1).fit(table, "y").report(title="a\udfff")
    assert json.loads(report.json())["title"] == "a?"
    assert report.html().encode()


def test_the_lattice_holds_every_score_up_to_one_feature_more(fitted, held):
    levels = held["lattice"]["levels"]
    assert [one["size"] for one in levels] == [1, 2, 3]
    for one, name in product(levels, ("score", "low", "high")):
        packed = np.frombuffer(base64.b64decode(one[name]), dtype="<f4")
        kept = getattr(fitted.selection_.completed(one["size"]), name)
        assert packed.reshape(kept.shape) == pytest.approx(kept, abs=1e-6)
        assert kept.shape[1] == len(level(7, one["size"]))


def test_without_validation_the_report_says_so(fitted):
    held = json.loads(fitted.report(validate=False).json())
    assert held["trust"] == {
        "sentence": "This was not checked: the report was made without validation.",
        "rows": [],
    }


@pytest.mark.usefixtures("few_resamples")
def test_what_may_mislead_is_said():
    table = {"a": [0, 1] * 60, "y": [0, 0, 1, 1] * 30}
    report = SubgroupSelector(size=1).fit(table, "y").report()
    cautions = json.loads(report.json())["cautions"]
    assert [one["words"].split(",")[0].split(":")[0] for one in cautions] == [
        "No set explains more than 2 % of the target 'y' in 'all rows'; the order of sets there"
        " may be chance.",
        "There is one subgroup only",
    ]
    assert "To keep in mind" in report.html()


@pytest.mark.parametrize(
    ("estimate", "trust"),
    [
        ("population", "Self-test with half of the rows left out: the"),
        ("sample", "nothing was predicted"),
    ],
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


@pytest.mark.usefixtures("few_resamples")
def test_sporadic_gaps_count_as_shares_and_a_value_called_missing_as_a_value():
    table = {"a": [0, 1, None, 1] * 5, "b": [0, 1, 1, 0] * 5, "y": [0, 1, 1, 0] * 5}
    held = json.loads(SubgroupSelector(size=1).fit(table, "y").report().json())
    assert held["recorded"] == [[0.75, 1.0]]
    table = {"a": ["missing", "taken"] * 10, "b": [0, 1, 1, 0] * 5, "y": [0, 1, 1, 0] * 5}
    held = json.loads(SubgroupSelector(size=1).fit(table, "y").report(validate=False).json())
    assert held["recorded"] == [[1.0, 1.0]]


def test_the_report_holds_the_answers_of_the_selection(fitted, held):
    best = best_sets(fitted.selection_)
    found = [one for row in held["subgroups"] for one in row["best_sets"]]
    assert [tuple(one["features"]) for one in found] == [one.features for one in best]
    assert [one["score"] for one in found] == [one.score for one in best]
    gains = [row["gain"] for row in held["worth_collecting"]]
    assert gains == sorted(gains, reverse=True)
    assert len(gains) == len(feature_worths(fitted.selection_))
    never = [[share is None for share in row] for row in held["recorded"]]
    assert np.array_equal(never, fitted.cohorts_.missing)
    fitted.validate()
    assert held["trust"]["sentence"] == fitted.validation_
    assert [row["subgroup"] for row in held["trust"]["rows"]] == list(fitted.cohorts_.names)
    assert held["settings"] == {"groups": "'cohort'", "size": "2", "k": "4", "random_state": "0"}
    screen = first_screen(fitted.selection_)
    assert held["answer"] == screen.sentence
    assert [row["sentence"] for row in held["subgroups"]] == [
        one.sentence for one in screen.subgroups
    ]
    assert held["collecting"] == list(screen.recording)


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


@pytest.mark.usefixtures("few_resamples")
def test_advice_is_spelled_as_whoever_made_the_report_spells_it():
    table = {"g": ["u", "v"] * 60, "a": [0, 1, 2, 3] * 30, "y": [0, 0, 1, 1] * 30}
    table["b"] = [0 if group == "v" else i % 7 for i, group in enumerate(table["g"])]
    selection = SubgroupSelector("g", size=1).fit(table, "y").selection_
    for spell, words in ((str, "missing_values={'b': ...}"), (as_option, "--missing 'b=")):
        held = json.loads(make_report(selection, validate=False, spell=spell).json())
        assert any(words in one["words"] for one in held["cautions"])


@pytest.fixture(scope="module")
def data(fitted):
    """What the scripts of the page read."""
    found = make_report(fitted.selection_, validate=False)
    return script_data(found.contents, found.cells)


def test_cells_hold_every_row_of_singles_and_pairs(data, fitted):
    tables, n = data["cells"]["tables"], len(data["features"])
    for cohort, name in enumerate(fitted.cohorts_.names):
        for first, second in combinations(range(n), 2):
            rows = sum(sum(line[2:]) for line in tables[f"{cohort}:{first},{second}"])
            assert rows == pytest.approx(fitted.cohorts_[name].size, rel=0.01)


def test_numbers_have_few_digits(data):
    numbers = list(floats_in(data["subgroups"]))
    assert numbers
    assert all(number == float(f"{number:.6g}") for number in numbers)
    assert data["z"] == pytest.approx(1.64485, abs=1e-5)


def floats_in(value):
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict | list):
        for held in value.values() if isinstance(value, dict) else value:
            yield from floats_in(held)


def test_of_very_many_subgroups_the_largest_are_explained_and_in_the_map(fitted, monkeypatch):
    monkeypatch.setattr(report_module, "MOST_EXPLAINED", 2)
    monkeypatch.setattr(page_module, "MOST_LINES", 2)
    report = fitted.report(validate=False)
    html = report.html()
    rows = {one["subgroup"]: one for one in json.loads(report.json())["subgroups"]}
    largest = sorted(rows, key=lambda name: -rows[name]["rows"])[:2]
    assert len(rows) > 2
    assert {name for name, one in rows.items() if one["why"] is not None} <= set(largest)
    assert any(one["why"] is not None for one in rows.values())
    assert all(one["best_sets"] for one in rows.values())
    assert "Only the 2 largest subgroups have their answers explained" in html
    table = re.search(r'id="feature-map".*?</table>', html, re.DOTALL).group()
    assert table.count("<tr data-subgroup") == 2
    assert "The 2 largest subgroups, of" in html
