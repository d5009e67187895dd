from __future__ import annotations

import pytest

from misfeat.sites.spending import delta_of, epsilon_of, rho_of


@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.09, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-4, 1e-6, 1e-12])
def test_the_conversion_is_that_of_opendp(rho, delta):
    combinators = pytest.importorskip("opendp.combinators")
    from opendp.domains import atom_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import absolute_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    gaussian = make_gaussian(
        atom_domain(T="i64"), absolute_distance(T="f64"), (1 / (2 * rho)) ** 0.5
    )
    profile = combinators.make_zCDP_to_approxDP(gaussian).map(1.0)
    assert epsilon_of(rho, delta) == pytest.approx(profile.epsilon(delta), rel=1e-9)


def test_ways_there_and_back_agree():
    for epsilon in (0.1, 1.0, 2.0, 8.0, 50.0):
        rho = rho_of(epsilon, 1e-6)
        assert epsilon_of(rho, 1e-6) == pytest.approx(epsilon, rel=1e-7)
        assert delta_of(rho, epsilon) <= 1e-6
    assert delta_of(0.0, 1.0) == epsilon_of(0.0, 1e-6) == 0.0
