"""What a journal asks of every picture: readable, in vectors, for colour-blind readers, too."""

from __future__ import annotations

import unicodedata
import warnings
from io import BytesIO
from itertools import combinations
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.text import Text

import misfeat
from misfeat.show.plot.canvas import BLUE, COLOUR, GREY, SCALE, VERMILLION
from misfeat.show.plot.network import LOOKS
from misfeat.show.plot.ranked_lists import SUPPORTS
from misfeat.show.plot.recorded import RECORDED
from misfeat.visible import JOINERS
from tests.show.plot.drawing import ALL, draw
from tests.show.plot.lettering import outside, overlapping

COLOUR_BLIND = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
"""What is left of linear red, green and blue (Machado, Oliveira and Fernandes, 2009)."""
TOLD_APART = 20.0
"""Distance in CIELAB; some 2 can just be seen side by side."""


def saved(ax, kind, **settings):
    """A picture as bytes of a file."""
    file = BytesIO()
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the font has no such character
        ax.figure.savefig(file, format=kind)
    return file.getvalue()


def several(name, selector):
    """A picture of all subgroups, where a plot has one of its own for them."""
    if name == "size_curve":
        return misfeat.plot.size_curve(selector)[0]
    return misfeat.plot.stability(selector, resamples=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_fifty_long_features_and_twenty_long_subgroups_can_be_read(name, wide):
    # There are 230,300 sets of four of these features.
    figure = draw(name, wide, **({"largest": 2} if name == "lattice" else {})).figure
    assert outside(figure) == []
    assert overlapping(figure) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["size_curve", "stability"])
def test_twenty_long_subgroups_in_one_picture_can_be_read(name, wide):
    figure = several(name, wide).figure
    assert outside(figure) == []
    assert overlapping(figure) == []


@pytest.mark.parametrize("name", ALL)
def test_texts_of_a_small_table_can_be_read(name, tested):
    figure = draw(name, tested).figure
    assert outside(figure) == []
    assert overlapping(figure) == []


def test_texts_that_cannot_be_read_are_noticed():
    figure, ax = plt.subplots()
    ax.text(0.5, 0.5, "one")
    ax.text(0.5, 0.5, "another")
    ax.text(0.9, 0.9, "a text that runs out of the figure")
    assert ("one", "another") in overlapping(figure)
    assert outside(figure) == ["a text that runs out of the figure"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_texts_stay_texts_in_vector_files(name, tested):
    ax = draw(name, tested)
    root = ET.fromstring(saved(ax, "svg", **{"svg.fonttype": "none"}))  # noqa: S314
    lines = {
        "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")
    }
    assert set(ax.get_title().splitlines()) <= lines
    pdf = saved(ax, "pdf", **{"pdf.fonttype": 42})
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf


@pytest.mark.parametrize("name", ALL)
def test_hostile_names_are_texts(name, hostile):
    ax = draw(name, hostile)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        ax.figure.canvas.draw()
    for text in ax.figure.findobj(Text):
        letters = set(text.get_text()) - {"\n", *JOINERS}
        assert not {one for one in letters if unicodedata.category(one) in ("Cc", "Cf", "Cs")}
        assert "$" not in text.get_text() or not text.get_parse_math()
    ET.fromstring(saved(ax, "svg", **{"svg.fonttype": "none"}))  # noqa: S314


@pytest.mark.parametrize("name", ["size_curve", "stability"])
def test_hostile_names_are_texts_in_pictures_of_all_subgroups(name, hostile):
    figure = several(name, hostile).figure
    dollars = [text for text in figure.findobj(Text) if "$" in text.get_text()]
    assert dollars
    assert not any(text.get_parse_math() for text in dollars)


def test_signs_of_line_breaks_are_spaces_and_commands_are_spelled(hostile):
    labels = [label.get_text() for label in misfeat.plot.feature_map(hostile).get_xticklabels()]
    expected = ["$\\alpha_1$", "two lines tab", "\\u202etfel", "\\x1b[31mred\\x07"]
    assert set(expected) <= set(labels)
    assert "\\ufffe\\x00<b>&amp;" in labels


def lab(colour, blindness=None):
    """A colour as lightness and two opponents (CIELAB, D65), as some readers see it."""
    seen = np.array(to_rgb(colour))
    linear = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
    if blindness is not None:
        linear = np.clip(np.array(COLOUR_BLIND[blindness]) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.array(to_xyz) @ linear / (0.9505, 1.0, 1.089)
    fx, fy, fz = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def distance(one, other, blindness=None):
    return float(np.linalg.norm(lab(one, blindness) - lab(other, blindness)))


def test_the_simulation_takes_red_for_green():
    assert distance("#FF0000", "#669900") > 100
    assert distance("#C00000", "#606000", "protanopia") < TOLD_APART
    assert distance("#B00000", "#607000", "deuteranopia") < TOLD_APART
    assert distance("black", "white", "protanopia") == pytest.approx(100, abs=1)


@pytest.mark.parametrize("blindness", [None, *COLOUR_BLIND])
@pytest.mark.parametrize(
    "palette",
    [
        [*COLOUR.values()],
        [look[0] for look in LOOKS.values()],
        [BLUE, GREY],
        [look[0] for look in SUPPORTS.values()],
        [VERMILLION, RECORDED],
    ],
    ids=["source", "interaction", "stability", "support", "missing"],
)
def test_colours_of_one_picture_are_told_apart(palette, blindness):
    apart = {pair: distance(*pair, blindness) for pair in combinations(palette, 2)}
    assert min(apart.values()) > TOLD_APART, apart


@pytest.mark.parametrize("blindness", [None, *COLOUR_BLIND])
def test_darker_cells_of_maps_are_more_to_every_reader(blindness):
    colours = mpl.colormaps[SCALE](np.linspace(0, 1, 20))
    lightness = [lab(colour[:3], blindness)[0] for colour in colours]
    assert (np.diff(lightness) < 0).all()
    assert lightness[0] - lightness[-1] > 60
