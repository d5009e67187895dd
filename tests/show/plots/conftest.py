"""Selectors to draw, and how a picture is held against the one that was looked at.

Pictures in ``baseline/`` were drawn with the matplotlib of constraints.txt. After a change that is
meant, draw them anew, look at each, and commit them:

    MISFEAT_RENEW_PICTURES=1 pytest tests/show/plots
"""

import os
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from PIL import Image, ImageFilter

import misfeat
from misfeat import Coding, MisfeatWarning, SubgroupSelector
from misfeat.datasets import load_heart, make_cohorts

BASELINE = Path(__file__).with_name("baseline")
DRAWN_WITH = "3.11"
"""Other releases of matplotlib place text a little differently."""
DOTS_AN_INCH = 64
SOFTENED = 4
"""Pixels over which pictures are blurred before they are compared. Where text is a fraction of a
pixel wider, the layout moves everything by as much, which is no difference to a reader."""
TOLERANCE = 30
"""The largest difference of a pixel, out of 255. A font half a percent larger makes up to 25, a
legend that is not there 37 and more, a marker that is not there 80 and more."""
# Every plot by its name, and those of one subgroup.
ALL = sorted(misfeat.plot.__all__)
OF_ONE = ("interactions", "size_curve", "stability", "top_k")
STYLE = {"backend": "Agg", "font.family": "DejaVu Sans", "text.hinting": "none"}


@pytest.fixture(autouse=True)
def plain_style():
    """Draw in matplotlib's own style, without a screen; close what was drawn."""
    with mpl.rc_context():
        mpl.rcParams.update(mpl.rcParamsDefault | STYLE)
        yield
        plt.close("all")


@pytest.fixture(scope="session")
def data():
    tests = ("glucose", "ecg", "weight", "smoking", "pressure", "lipids", "sleep")
    names = {"feature_names": tests, "cohort_names": ("North", "East", "South", "West")}
    names |= {"group": "clinic", "target": "ill"}
    return make_cohorts(4, 800, 7, hide=0.3, random_state=2, **names)


@pytest.fixture(scope="session")
def selector(data):
    return SubgroupSelector(data.groups, size=3, k=6).fit(data.columns, data.target)


@pytest.fixture(scope="session")
def tested(data):
    """The same selector, asked whether sets tell more than chance."""
    tested = SubgroupSelector(data.groups, size=3, k=6).fit(data.columns, data.target)
    tested.significance(permutations=199)
    return tested


@pytest.fixture(scope="session")
def heart():
    """Four hospitals; three of them recorded little of what tells most in the first."""
    table = dict(load_heart().columns)
    table["ill"] = table.pop("num") > 0
    coding = Coding(missing_threshold=0.5, sporadic="available", missing_values={"chol": [0]})
    selector = SubgroupSelector("site", size=2, k=5, coding=coding).fit(table, "ill")
    selector.significance()
    return selector


@pytest.fixture(scope="session")
def half_constant():
    """In one of two subgroups the target has a single value."""
    table = {"g": ["a"] * 8 + ["b"] * 4, "x": [0, 0, 1, 1] * 3, "y": [0, 0, 1, 1] * 2 + [1] * 4}
    selector = SubgroupSelector("g", size=1, coding=Coding(min_rows=1))
    with pytest.warns(MisfeatWarning, match="single value"):
        selector.fit(table, "y")
    return selector


@pytest.fixture(scope="session")
def wide():
    """Fifty features with names of 30 characters in 20 subgroups with names of 40."""
    features = [f"laboratory result, number {i:04d}" for i in range(50)]
    subgroups = [f"a clinic with a rather long name, no. {i:02d}" for i in range(20)]
    assert {len(name) for name in features} == {30}
    assert {len(name) for name in subgroups} == {40}
    data = make_cohorts(
        20, 200, 50, feature_names=features, cohort_names=subgroups, hide=0.2, random_state=0
    )
    selector = SubgroupSelector(data.groups, size=1, k=5).fit(data.columns, data.target)
    selector.significance(permutations=99)
    return selector


@pytest.fixture(scope="session")
def hostile():
    """Names that try to be formulas, commands, other lines, or another order of letters."""
    names = (
        "$\\alpha_1$ \\frac{1}{2",
        "two\nlines\ttab",
        "\u202etfel",
        "\x1b[31mred\x07",
        "\ufffe\x00<b>&amp;",
        "عمر المريض",
        "😀 mood",
        "a name " * 10,
        "",
    )
    others = {"cohort_names": ("$x^2$", "\u2067a\r\nb", "<script>"), "group": "\x9bg"}
    others |= {"feature_names": names, "target": "$\\frac{"}
    data = make_cohorts(3, 300, len(names), hide=0.3, random_state=0, **others)
    selector = SubgroupSelector(data.groups, size=2, k=4).fit(data.columns, data.target)
    selector.significance(permutations=99, within=names[0])
    return selector


@pytest.fixture(scope="session")
def large():
    """Twenty cohorts of thirty features, some of them with long names."""
    names = [f"laboratory result number {i}" if i % 5 == 0 else f"f{i}" for i in range(30)]
    data = make_cohorts(20, 200, 30, feature_names=names, hide=0.2, random_state=0)
    return SubgroupSelector(data.groups, size=1).fit(data.columns, data.target)


@pytest.fixture(scope="session")
def smallest():
    """One cohort and one feature."""
    return SubgroupSelector(size=1).fit({"a": [0, 0, 1, 1], "y": [0, 0, 1, 1]}, "y")


def softened(path):
    """A picture without its finest details, of shape (height, width, 3)."""
    with Image.open(path) as picture:
        soft = picture.convert("RGB").filter(ImageFilter.GaussianBlur(SOFTENED))
    return np.asarray(soft, dtype=float)


@pytest.fixture
def assert_looks_as_before(tmp_path):
    """Fails where a plot differs from its picture in the baseline."""
    if not mpl.__version__.startswith(f"{DRAWN_WITH}."):
        pytest.skip(f"the pictures were drawn with matplotlib {DRAWN_WITH}")

    def compare(ax, name):
        drawn, before = tmp_path / f"{name}.png", BASELINE / f"{name}.png"
        options = {"metadata": {"Software": None}, "pil_kwargs": {"optimize": True}}
        ax.figure.savefig(drawn, dpi=DOTS_AN_INCH, **options)
        if os.environ.get("MISFEAT_RENEW_PICTURES"):
            before.write_bytes(drawn.read_bytes())
        new, old = softened(drawn), softened(before)
        assert new.shape == old.shape, name
        worst = np.abs(new - old).max()
        assert worst <= TOLERANCE, f"{name} differs by {worst:.0f} of 255; see {drawn}, {before}"

    return compare


def draw(name, selector, **options):
    if name == "all subgroups":
        return misfeat.plot.size_curve(selector)[0]
    if name in OF_ONE:
        options["subgroup"] = selector.cohorts_.names[0]
    names = selector.selection_.feature_names
    if name == "forest":
        options["features"] = names[:2]
    if name == "stability":
        options["resamples"] = 3
    return getattr(misfeat.plot, name)(selector, **options)


def texts(artists):
    return [artist.get_text() for artist in artists]


def entropies(selector):
    """The entropy of the target by subgroup: what shares are of."""
    found = selector.subgroups_
    return dict(zip(found["subgroup"], found["target_entropy"], strict=True))
