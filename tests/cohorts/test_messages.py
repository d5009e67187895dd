"""What is said about a table: parameters as data, and names that look like templates."""

from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError, MisfeatWarning
from misfeat.cohorts import Coding, build_cohorts
from tests.cohorts.tables import build_product_sums, table


def spelled(setting) -> str:
    """A parameter in words that Python has not."""
    value = f" {setting.value}" if setting.has_value else ""
    column = f" of {setting.column}" if setting.column else ""
    return f"<{setting.parameter}{column}{value}>"


SPELLED = [
    ({"coding": Coding(bins=0)}, "<bins 0>; it must be an integer from 2 to 250."),
    ({"coding": Coding(bins={"x": [6, 4]})}, "<bins of x [6, 4]> must ascend, without repeats."),
    ({"coding": Coding(bins={"x": []})}, "; give cut points, such as <bins of x [40, 65]>."),
    ({"coding": Coding(bins={"q": 3})}, "(asked for as <bins>)"),
    ({"coding": Coding(bins={"site": 3})}, "and cannot be binned; take it out of <bins>."),
    ({"coding": Coding(missing_values={"q": 0})}, "(asked for as <missing_values>)"),
    ({"groups": {"x": [60, 40]}}, "<groups of x [60, 40]> must ascend, without repeats."),
    ({"groups": "y"}, "Take it out of <groups>."),
    ({"groups": {"site": {"q": "Q"}}}, "<groups of site {'q': 'Q'}> names the value 'q'"),
    ({"coding": Coding(binning="kmeans")}, "<binning kmeans> is unknown"),
]


@pytest.mark.parametrize(("arguments", "message"), SPELLED)
def test_parameters_are_spelled_by_whoever_shows_the_message(arguments, message):
    with pytest.raises(MisfeatError) as caught:
        build_cohorts(table(), "y", **arguments)
    assert message in caught.value.message.told(spelled)
    assert caught.value.parameter is not None


def test_an_error_carries_its_parameter_its_column_its_value_and_what_to_do():
    with pytest.raises(MisfeatError) as caught:
        build_cohorts(table(), "y", coding=Coding(bins={"x": 1}))
    error = caught.value
    assert (error.parameter, error.column, error.value) == ("bins", "x", 1)
    with pytest.raises(MisfeatError) as caught:
        build_cohorts(table(), "y", groups="y")
    assert caught.value.column == "y"
    assert caught.value.remedy == "Take it out of groups."
    with pytest.raises(MisfeatError) as caught:
        build_cohorts(table(), "y", groups={"site": [1, 2]})
    assert (caught.value.parameter, caught.value.column) == ("groups", "site")


def test_notes_are_spelled_in_other_words_too():
    with pytest.warns(MisfeatWarning) as caught:
        cohorts = build_cohorts(table(i=np.arange(60)), "y")
    (warning,) = caught
    assert "pass <bins of i 5>; else" in warning.message.args[0].told(spelled)
    assert "pass <bins of i 5>; else" in cohorts.notes[0].told(spelled)


def test_names_and_values_that_look_like_templates_are_only_names():
    odd = "{x!r} {0} {column}"
    data = table(i=np.arange(60), empty=np.full(60, np.nan))
    data = {f"{odd}{name}": column for name, column in data.items()}
    site = data[f"{odd}site"]
    site[:4] = ["{d}", "{e}", None, "{e}"]
    data[f"{odd}y"] = np.where(site == "b", 1.0, data[f"{odd}y"])
    data[f"{odd}y"][10:12] = np.nan
    with pytest.warns(MisfeatWarning) as caught:
        cohorts = build_cohorts(
            data,
            f"{odd}y",
            groups=[f"{odd}site", {"{old}": f"`{odd}x` > 1"}],
            coding=Coding(min_rows=3, bins={f"{odd}z": [0]}, missing_values={f"{odd}z": ["{}"]}),
        )
    said = [str(warning.message) for warning in caught] + list(cohorts.notes)
    assert any(f"pass bins={{'{odd}i': 5}}" in text for text in said)
    assert any(f"'{odd}empty' is missing in every subgroup" in text for text in said)
    assert any(f"the target '{odd}y' are dropped" in text for text in said)
    assert any(f"{odd}site={{d}} & " in text for text in said)
    assert any(f"single value in the subgroups '{odd}site=b & " in text for text in said)
    assert any(name.startswith(f"{odd}site=a & not {{old}}") for name in cohorts.names)
    build_product_sums({f"{{{n}}}": c for n, c in table().items()}, "{y}", groups="{site}")
