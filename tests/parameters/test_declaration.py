from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from misfeat import Coding, Columns, MisfeatError, SubgroupSelector
from misfeat.parameters.coding import CodingParameters
from misfeat.parameters.declaration import check_parameters, parameters_of
from misfeat.selector_parameters import SelectorParameters


@pytest.mark.parametrize("estimator", [SubgroupSelector, Coding, Columns])
def test_every_parameter_is_in_the_docstring_with_its_default_and_in_the_signature(estimator):
    usual = estimator().get_params(deep=False)
    assert list(parameters_of(estimator)) == [*parameters_of(estimator()).keys()]
    assert set(parameters_of(estimator)) == set(usual)
    for name, parameter in parameters_of(estimator).items():
        assert f"{name} : {parameter.takes.words}, default=" in estimator.__doc__
        assert usual[name] == parameter.default


def test_the_estimators_have_the_parameters_that_are_declared_apart():
    assert list(parameters_of(Coding)) == list(parameters_of(CodingParameters))
    assert list(parameters_of(SubgroupSelector)) == list(parameters_of(SelectorParameters))


def test_reading_the_declarations_imports_nothing_heavy():
    code = (
        "import sys, misfeat.selector_parameters, misfeat.parameters.coding\n"
        "heavy = ('numpy', 'torch', 'numba', 'sklearn', 'pandas', 'narwhals')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "[]\n"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": 0}, "size=0; it must be an integer of at least 1."),
        ({"size": True}, "size=True; it must be an integer"),
        ({"random_state": -1}, "random_state=-1; it must be an integer of at least 0, or None."),
        ({"budget": 0}, "budget=0; it must be above 0 and at most 1."),
        ({"budget": True}, "budget=True; it must be above 0"),
        ({"budget": "half"}, "budget='half'; it must be above 0"),
        ({"confidence": 1.0}, "confidence=1.0; it must lie between 0 and 1, or be None."),
        ({"sampler": "none"}, "use 'randwalk', 'arbitrary' or 'stratified'."),
        ({"n_jobs": 0}, "n_jobs=0; it must be a number of threads, -1 for all, or None."),
        ({"coding": 5}, "coding=5; it must be a Coding, or None."),
        ({"coding__min_rows": 0}, "min_rows=0; it must be an integer of at least 1, or None."),
        ({"columns__keep_groups": 1}, "keep_groups=1; use True or False."),
        ({"verbose": -1}, "verbose=-1; it must be an integer of at least 0."),
    ],
)
def test_a_value_that_a_parameter_cannot_take_is_named(wrong, message):
    with pytest.raises(MisfeatError) as refused:
        SubgroupSelector().set_params(**wrong).fit({"a": [0, 1], "y": [0, 1]}, "y")
    assert message in str(refused.value)


def test_numbers_and_flags_of_numpy_are_taken():
    check_parameters(SubgroupSelector(size=np.int64(2), budget=np.float32(0.5)))
    check_parameters(Columns(keep_groups=np.bool_(True)))
