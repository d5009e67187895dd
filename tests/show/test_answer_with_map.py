import re
from html import unescape

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.subgroup_significance import significance_tests
from misfeat.datasets import make_cohorts
from misfeat.show.answer_with_map import feature_map, first_screen


@pytest.fixture(scope="module")
def selection():
    data = make_cohorts(n_cohorts=6, n_rows=400, n_features=5, hide=0.3, random_state=4)
    selector = SubgroupSelector(data.groups, size=2, random_state=0)
    return selector.fit(data.columns, data.target).selection_


def test_subgroups_that_are_the_same_are_neighbours():
    rng = np.random.default_rng(0)
    n = 2400
    group = np.arange(n) % 4
    table = {"a": rng.integers(0, 2, n), "b": rng.integers(0, 2, n), "g": group}
    truth = np.where(group % 2 == 0, table["a"], table["b"])
    y = np.where(rng.random(n) < 0.15, 1 - truth, truth)
    selector = SubgroupSelector("g", size=1, estimate="above_chance").fit(table, y)
    order = feature_map(selector.selection_).subgroups
    assert {order[0] % 2, order[1] % 2} in ({0}, {1})


def test_the_map_has_shares_of_single_features_the_best_first_and_pale_by_p_value(selection):
    found, whole = feature_map(selection), selection.set_scores.measure.whole
    for cohort, name in enumerate(selection.cohorts.names):
        for feature, column in enumerate(selection.feature_names):
            expected = selection.score_of(name, [column]) / whole[cohort]
            assert found.share[cohort, feature] == pytest.approx(expected)
    means = found.share.mean(axis=0)[list(found.features)]
    assert (np.diff(means) <= 0).all()
    assert sorted(found.subgroups) == list(range(6))
    single, tests = significance_tests(selection, 1), significance_tests(selection)
    found = feature_map(selection, single, tests)
    recorded = ~found.predicted
    nothing = np.array([[not one.more_than_chance] for one in tests.subgroups])
    expected = (single.p_values[1] > 0.05) | nothing
    assert np.array_equal(found.faded[recorded], expected[recorded])


@pytest.fixture(scope="module")
def selector():
    data = make_cohorts(3, 300, 4, hide=0.3, random_state=0)
    return SubgroupSelector(data.groups, size=1).fit(data.columns, data.target)


def test_a_fitted_selector_shows_its_subgroups_and_what_they_lack(selector):
    assert "never recorded" not in SubgroupSelector("cohort")._repr_html_()
    html = selector._repr_html_()
    assert "never recorded" in html
    assert html.count("<tr><td>cohort=") == 3
    assert "never recorded" in selector._repr_mimebundle_()["text/html"]


def test_a_selection_shows_its_first_screen(selector):
    selection = selector.selection_
    html, screen = selection._repr_html_(), first_screen(selection)
    text = unescape(re.sub(r"<style>.*?</style>|<[^>]*>", "", html, flags=re.DOTALL))
    text = text.replace("\u00a0", " ")
    assert screen.sentence in text
    for one in (*(answer.sentence for answer in screen.subgroups), *screen.recording):
        assert one in text
    assert html.count("<td") == 12
    assert len(re.findall('class="never', html)) == selection.missing.sum() > 0


def test_names_are_shown_as_text_and_many_subgroups_are_counted():
    name = "<img src=x onerror=alert(1)>"
    groups = ["<script>alert(1)</script>", "</div>", *(f"g{i}" for i in range(23))]
    table = {name: [0, 1, 1, 0] * 25, "g": groups * 4, "y": [0, 1] * 50}
    selector = SubgroupSelector("g", size=1, k=1).fit(table, "y")
    for html in (selector._html_repr(), selector.selection_._repr_html_()):
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)" in html
        assert "<img" not in html
        assert html.count("<div") == html.count("</div")
        assert "and 5 more" in html
