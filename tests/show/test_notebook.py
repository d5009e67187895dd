from __future__ import annotations

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts


def test_a_fitted_selector_shows_its_subgroups_and_what_they_lack():
    data = make_cohorts(2, 50, 3, hide=0.4, random_state=0)
    selector = SubgroupSelector(data.groups, size=1)
    assert "never recorded" not in selector._repr_html_()
    html = selector.fit(data.columns, data.target)._repr_html_()
    assert "never recorded" in html
    assert "cohort=c2" in html
    assert html.count("<tr><td>cohort=") == 2
    assert "never recorded" in selector._repr_mimebundle_()["text/html"]


def test_names_are_shown_as_text_and_many_subgroups_are_counted():
    names = ["<script>alert(1)</script>", *(f"g{i}" for i in range(24))]
    table = {"site": names * 4, "a": [0, 1] * 50, "b": [0, 0, 1, 1] * 25, "y": [0, 1] * 50}
    html = SubgroupSelector("site", size=1, k=1).fit(table, "y")._html_repr()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "and 5 more" in html
