import numpy as np

import misfeat
from misfeat.show.plots.drawing import COLOUR, FADED
from tests.show.plots.conftest import entropies, texts

PAIR = ["glucose", "ecg"]


def columns(ax):
    """The texts on the right, by their head."""
    heads = {text.xyann[0]: text.get_text() for text in ax.texts if text.get_weight() == "bold"}
    found = {head: [] for head in heads.values()}
    for text in ax.texts:
        if text.get_weight() != "bold":
            found[heads[text.xyann[0]]].append(text.get_text())
    return found


def squares(ax):
    """Of every line its square, from the top."""
    return sorted(ax.collections, key=lambda drawn: drawn.get_offsets()[0, 1])


def test_subgroups_are_sorted_by_their_share_of_the_uncertainty(selector):
    ax = misfeat.plot.forest(selector, PAIR)
    entropy = entropies(selector)
    shares = {name: selector.score_of(name, PAIR) / entropy[name] for name in entropy}
    assert texts(ax.get_yticklabels()) == sorted(shares, key=lambda name: -shares[name])
    drawn = [square.get_offsets()[0, 0] for square in squares(ax)]
    np.testing.assert_allclose(drawn, sorted(shares.values(), reverse=True))
    assert ax.get_xlabel() == "share of the uncertainty about ill"


def test_numbers_stand_on_the_right_p_values_where_they_were_asked_for(heart, selector):
    found = columns(misfeat.plot.forest(heart, ["cp", "ca"]))
    assert list(found) == ["rows", "share", "90 % interval", "p"]
    assert found["rows"][1] == "303"
    assert found["share"][1] == "34 %"
    assert found["p"] == ["–", "≤ 0.005", "–", "–"]
    assert "p" not in columns(misfeat.plot.forest(selector, PAIR))


def test_squares_have_areas_as_the_rows_and_are_hollow_or_faded(heart):
    ax = misfeat.plot.forest(heart, ["cp"])
    rows = [int(text.replace(",", "")) for text in columns(ax)["rows"]]
    areas = [float(square.get_sizes()[0]) for square in squares(ax)]
    np.testing.assert_allclose(np.array(areas) / areas[0], np.array(rows) / rows[0])
    ax = misfeat.plot.forest(heart, ["cp", "ca"])
    recorded = texts(ax.get_yticklabels()).index("site=cleveland")
    for place, square in enumerate(squares(ax)):
        hollow = (square.get_facecolor() == 1).all()
        assert hollow == (place != recorded)
    styles = {line.get_color(): line.get_linestyle() for line in ax.lines}
    assert styles == {COLOUR["recorded"]: "-", COLOUR["predicted"]: "--"}
    ax = misfeat.plot.forest(heart, ["restecg", "fbs"])
    predicted = texts(ax.get_yticklabels()).index("site=switzerland")
    faded = [line.get_alpha() == FADED for line in ax.lines]
    assert faded == [place != predicted for place in range(4)]
    assert "not clearly more than chance" in ax.get_legend().get_texts()[-1].get_text()


def test_where_nothing_is_to_be_told_no_square_stands(half_constant):
    ax = misfeat.plot.forest(half_constant, ["x"])
    assert columns(ax)["share"][1] == "none"
    assert len(ax.collections) == 1
