import numpy as np
import pytest

from misfeat import Coding, Columns, MisfeatError, SubgroupSelector
from misfeat.parameters.declaration import check_parameters, parameters_of


@pytest.mark.parametrize("estimator", [SubgroupSelector, Coding, Columns])
def test_every_parameter_is_in_the_docstring_with_its_default_and_in_the_signature(estimator):
    usual = estimator().get_params(deep=False)
    assert list(parameters_of(estimator)) == [*parameters_of(estimator()).keys()]
    assert set(parameters_of(estimator)) == set(usual)
    for name, parameter in parameters_of(estimator).items():
        assert f"{name} : {parameter.metadata['takes'].words}, default=" in estimator.__doc__
        assert usual[name] == parameter.default


def test_numbers_and_flags_of_numpy_are_taken():
    check_parameters(SubgroupSelector(size=np.int64(2), budget=np.float32(0.5)))
    check_parameters(Columns(keep_groups=np.bool_(True)))


def test_a_value_that_a_parameter_cannot_take_is_named():
    for wrong, message in (
        ({"size": 0}, "size=0; it must be an integer of at least 1."),
        ({"size": True}, "size=True; it must be an integer"),
        ({"k": 0}, "k=0; it must be an integer"),
        ({"random_state": -1}, "random_state=-1; it must be an integer of at least 0, or None."),
        ({"budget": 0}, "budget=0; it must be above 0 and at most 1."),
        ({"budget": "half"}, "budget='half'; it must be above 0"),
        ({"confidence": 1.0}, "confidence=1.0; it must lie between 0 and 1, or be None."),
        ({"sampler": "none"}, "use 'randwalk', 'arbitrary' or 'stratified'."),
        ({"measure": "gini"}, "measure='gini' is unknown"),
        ({"completer": "magic"}, "completer='magic' is unknown"),
        ({"completer": ["knn"]}, "completer="),
        ({"n_jobs": 0}, "n_jobs=0; it must be a number of threads, -1 for all, or None."),
        ({"verbose": -1}, "verbose=-1; it must be an integer of at least 0."),
        ({"verbose": "loud"}, "verbose='loud'; it must be an integer"),
        ({"coding": 5}, "coding=5; it must be a Coding, or None."),
        ({"columns": "best"}, "columns='best'; it must be a Columns, or None"),
        ({"coding__min_rows": 0}, "min_rows=0; it must be an integer of at least 1, or None."),
        ({"columns__keep_groups": 1}, "keep_groups=1; use True or False."),
    ):
        with pytest.raises(MisfeatError) as refused:
            SubgroupSelector().set_params(**wrong).fit({"a": [0, 1], "y": [0, 1]}, "y")
        assert message in str(refused.value)
