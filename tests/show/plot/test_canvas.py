"""What holds for all plots."""

from __future__ import annotations

import subprocess
import sys
import warnings

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

import misfeat
from misfeat.show.plot.canvas import set_label, shortened
from tests.show.plot.drawing import ALL, draw


@pytest.mark.parametrize("name", ALL)
def test_a_plot_is_drawn_on_the_axes_given(name, selector):
    figure, axes = plt.subplots(2)
    assert draw(name, selector, ax=axes[1]) is axes[1]
    assert plt.get_fignums() == [figure.number]
    assert not axes[0].has_data()


@pytest.mark.parametrize("name", ALL)
def test_what_are_no_axes_is_refused(name, selector):
    with pytest.raises(misfeat.MisfeatError, match="ax=3; it must be matplotlib axes"):
        draw(name, selector, ax=3)


@pytest.mark.parametrize("name", ALL)
def test_a_new_figure_lays_itself_out_and_is_not_shown(name, selector, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("shown"))
    ax = draw(name, selector)
    assert ax.figure.get_layout_engine() is not None
    assert isinstance(ax, mpl.axes.Axes)


@pytest.mark.parametrize("name", ALL)
def test_settings_of_matplotlib_stay_as_they_are(name, selector):
    before = dict(mpl.rcParams)
    draw(name, selector)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("which", ["odd", "smallest", "sampled"])
def test_odd_names_and_small_tables_are_drawn(name, which, request):
    ax = draw(name, request.getfixturevalue(which))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the font has no such character
        warnings.filterwarnings("error", "constrained_layout")
        ax.figure.draw_without_rendering()
    assert all(not text.get_parse_math() for text in ax.get_yticklabels() if "$" in text.get_text())


@pytest.mark.parametrize("name", ALL)
def test_labels_and_titles_stay_within_the_figure(name, selector):
    figure = draw(name, selector).figure
    figure.draw_without_rendering()
    inner, outer = figure.get_tightbbox(), figure.bbox_inches
    assert inner.x0 >= -0.02
    assert inner.y0 >= -0.02
    assert inner.x1 <= outer.x1 + 0.02
    assert inner.y1 <= outer.y1 + 0.02


def test_names_are_shown_as_they_are_where_others_would_see_formulas(odd):
    ax = misfeat.plot.missing(odd)
    ax.figure.canvas.draw()
    assert ax.get_xticklabels()[0].get_text() == "$a_b$ \\frac{1}{2"
    assert ax.get_xticklabels()[3].get_text() == "x y"
    assert misfeat.plot.top_k(odd, "g^=$1_0").get_xlabel().endswith("about t$_{")


@pytest.fixture(scope="module")
def loaded(selector, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "run"
    selector.save(folder)
    return misfeat.SubgroupSelector.load(folder)


@pytest.fixture(scope="module")
def correlated(data):
    chosen = misfeat.SubgroupSelector(data.groups, size=2, measure="r2", exclude=["sleep"])
    return chosen.fit(data.columns, data.target)


@pytest.fixture(scope="module")
def chosen(data):
    blocks = {"blood": ["glucose", "lipids"]}
    chosen = misfeat.SubgroupSelector(data.groups, size=3, include=["ecg", "weight"], blocks=blocks)
    return chosen.fit(data.columns, data.target)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("which", ["loaded", "correlated", "chosen"])
def test_selectors_of_every_kind_are_drawn(name, which, request):
    selector = request.getfixturevalue(which)
    if which == "correlated" and name in ("cells", "stability"):
        with pytest.raises(misfeat.MisfeatError, match="measure='mutual_info'"):
            draw(name, selector)
        return
    ax = draw(name, selector)
    ax.figure.draw_without_rendering()
    assert ax.get_title()


@pytest.mark.parametrize("name", ALL)
def test_a_selector_must_be_fitted(name):
    features = [["a"]] if name == "forest" else []
    with pytest.raises(NotFittedError):
        getattr(misfeat.plot, name)(misfeat.SubgroupSelector(), *features)


def test_a_plot_without_its_legend_is_told_apart(selector, difference, monkeypatch):
    monkeypatch.delenv("MISFEAT_RENEW_PICTURES", raising=False)
    ax = misfeat.plot.missing(selector)
    ax.get_legend().remove()
    assert "differs by up to" in difference(ax, "missing")


@pytest.mark.parametrize("most", [3, 8, 15])
def test_a_long_name_keeps_both_ends(most):
    shown = shortened("beginning, middle and end", most)
    assert len(shown) == most
    assert shown[0] == "b"
    assert shown[-1] == "d"
    assert "…" in shown


def test_a_set_of_long_names_is_cut_but_keeps_its_stars():
    names = [f"{letter} rather long name {letter}" for letter in "abc"]
    shown = set_label(names, names[1:2], 30)
    assert len(shown) <= 30
    assert [part[-1] for part in shown.split(", ")] == ["a", "*", "c"]


def test_a_set_with_room_for_it_is_whole():
    assert set_label(("a name of some length", "b"), ("b",), 30) == "a name of some length, b*"


@pytest.mark.slow
def test_without_matplotlib_the_error_says_what_to_install():
    code = """
import sys
sys.modules["matplotlib"] = None
import misfeat
selector = misfeat.SubgroupSelector(size=1).fit({"a": [0, 0, 1, 1], "y": [0, 0, 1, 1]}, "y")
for name in misfeat.plot.__all__:
    try:
        getattr(misfeat.plot, name)(selector, *([["a"]] if name == "forest" else []))
    except misfeat.MisfeatError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said = "Plots need matplotlib: pip install 'misfeat[plot]'."
    assert done.stdout.splitlines() == [said] * len(ALL)
