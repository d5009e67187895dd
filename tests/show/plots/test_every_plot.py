"""What holds for all plots, and what a journal asks of them."""

import subprocess
import sys
import unicodedata
import warnings
from io import BytesIO
from itertools import combinations
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text
from sklearn.exceptions import NotFittedError

import misfeat
from misfeat.messages import JOINERS
from misfeat.show.plots.drawing import set_label, shortened
from tests.show.plots.conftest import ALL, draw

SPARE = 1.0
"""Pixels by which texts may touch."""


@pytest.mark.parametrize("name", ALL)
def test_a_plot_is_drawn_on_the_axes_given_and_changes_nothing_else(name, selector, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("shown"))
    before = dict(mpl.rcParams)
    figure, axes = plt.subplots(2)
    assert draw(name, selector, ax=axes[1]) is axes[1]
    assert plt.get_fignums() == [figure.number]
    assert not axes[0].has_data()
    assert dict(mpl.rcParams) == before
    with pytest.raises(misfeat.MisfeatError, match="ax=3; it must be matplotlib axes"):
        draw(name, selector, ax=3)


def test_a_selector_must_be_fitted():
    for name in ALL:
        features = [["a"]] if name == "forest" else []
        with pytest.raises(NotFittedError):
            getattr(misfeat.plot, name)(misfeat.SubgroupSelector(), *features)


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


@pytest.mark.parametrize("which", ["smallest", "loaded", "correlated", "chosen"])
def test_selectors_of_every_kind_are_drawn(which, request):
    selector = request.getfixturevalue(which)
    for name in ALL:
        if (which, name) == ("correlated", "stability"):
            with pytest.raises(misfeat.MisfeatError, match="measure='mutual_info'"):
                draw(name, selector)
            continue
        ax = draw(name, selector)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "constrained_layout")
            ax.figure.draw_without_rendering()
        assert ax.get_title() or ax.texts


PICTURES = {
    "feature_map": ("heart", {}),
    "feature_map_many": ("large", {}),
    "forest": ("heart", {"features": ["cp", "ca"]}),
    "forest_of_chance": ("heart", {"features": ["chol", "fbs"]}),
    "interactions_many": ("large", {"subgroup": "cohort=c1"}),
    "size_curve_of_one": ("heart", {"subgroup": "site=va"}),
    "stability": ("selector", {"subgroup": "clinic=North", "resamples": 12}),
    "top_k": ("selector", {"subgroup": "clinic=North", "k": 8}),
    "worth_collecting": ("selector", {}),
}
"""Pictures in ``baseline/``: the fixture that is drawn, and how."""


@pytest.mark.parametrize("picture", [*PICTURES, pytest.param("size_curve", marks=pytest.mark.slow)])
def test_a_plot_looks_as_before(picture, request, assert_looks_as_before):
    which, options = PICTURES.get(picture, ("heart", {}))
    name = next(name for name in reversed(ALL) if picture.startswith(name))
    ax = getattr(misfeat.plot, name)(request.getfixturevalue(which), **options)
    assert_looks_as_before(ax[0] if picture == "size_curve" else ax, picture)


def texts_of(figure):
    """Every text that a reader sees, with its box in pixels."""
    figure.canvas.draw()
    found = [*figure.texts, *(text for one in figure.legends for text in one.get_texts())]
    for axes in figure.axes:
        found += [text for one in (axes, *axes.child_axes) for text in of_axes(one)]
    renderer = figure.canvas.get_renderer()
    return [
        (text.get_text(), text.get_window_extent(renderer))
        for text in found
        if text.get_visible() and text.get_text().strip()
    ]


def of_axes(axes):
    found = [*axes.texts, axes.title, axes._left_title, axes._right_title]
    if axes.get_legend() is not None:
        found += axes.get_legend().get_texts()
    if axes.axison:
        for axis in (axes.xaxis, axes.yaxis):
            found.append(axis.label)
            for tick in axis._update_ticks():  # those within the limits
                found += [tick.label1, tick.label2]
    return found


def outside(figure):
    """Texts that a figure cuts off."""
    whole = figure.bbox.padded(SPARE)
    return [
        text
        for text, box in texts_of(figure)
        if min(box.x0 - whole.x0, box.y0 - whole.y0, whole.x1 - box.x1, whole.y1 - box.y1) < 0
    ]


def overlapping(figure):
    """Pairs of texts of which one lies over the other."""
    return [
        (one, other)
        for (one, first), (other, second) in combinations(texts_of(figure), 2)
        if min(first.x1, second.x1) - max(first.x0, second.x0) > SPARE
        and min(first.y1, second.y1) - max(first.y0, second.y0) > SPARE
    ]


@pytest.mark.parametrize("name", ALL)
def test_texts_of_a_new_figure_can_be_read(name, tested):
    figure = draw(name, tested).figure
    assert figure.get_layout_engine() is not None
    assert outside(figure) == []
    assert overlapping(figure) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ALL, "all subgroups"])
def test_fifty_long_features_and_twenty_long_subgroups_can_be_read(name, wide):
    figure = draw(name, wide).figure
    assert outside(figure) == []
    assert overlapping(figure) == []


def saved(ax, kind, **settings):
    """A picture as bytes of a file."""
    file = BytesIO()
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the font has no such character
        ax.figure.savefig(file, format=kind)
    return file.getvalue()


@pytest.mark.parametrize("name", [*ALL, "all subgroups"])
def test_hostile_names_are_texts(name, hostile):
    ax = draw(name, hostile)
    svg = saved(ax, "svg", **{"svg.fonttype": "none"})
    for text in ax.figure.findobj(Text):
        letters = set(text.get_text()) - {"\n", *JOINERS}
        assert not {one for one in letters if unicodedata.category(one) in ("Cc", "Cf", "Cs")}
        assert "$" not in text.get_text() or not text.get_parse_math()
    ET.fromstring(svg)  # noqa: S314


def test_long_names_are_cut_but_keep_both_ends_and_their_stars():
    for most in (3, 8, 15):
        shown = shortened("beginning, middle and end", most)
        assert (len(shown), shown[0], shown[-1], "…" in shown) == (most, "b", "d", True)
    names = [f"{letter} rather long name {letter}" for letter in "abc"]
    shown = set_label(names, names[1:2], 30)
    assert len(shown) <= 30
    assert [part[-1] for part in shown.split(", ")] == ["a", "*", "c"]
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
