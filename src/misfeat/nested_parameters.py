"""A question as an estimator: settings within settings are reached and checked from outside."""

from typing import Any, Self

from misfeat.cohorts.column_coding import Coding
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.parameters.declaration import check_parameters, parameters_of
from misfeat.runtime.scikit_learn_import import BaseEstimator
from misfeat.selector_parameters import SelectorParameters
from misfeat.transformer import Columns

NESTED = {"coding": Coding, "columns": Columns}  # Parameters that hold parameters of their own


class NestedParameters(SelectorParameters, BaseEstimator):  # type: ignore[misc]
    """The parameters of `SubgroupSelector`, and those within its `coding` and `columns`."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those within `coding` and `columns`, as ``coding__min_rows``.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self
            The estimator.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> SubgroupSelector().set_params(coding__min_rows=30).coding
        Coding(min_rows=30)
        """
        for name in NESTED:
            if any(one.startswith(f"{name}__") for one in params):
                params[name] = _checked(name, params.get(name, getattr(self, name)))
        super().set_params(**params)
        return self

    def _nested(self, name: str) -> Any:
        """The settings that a parameter holds, checked; the usual ones where it holds none."""
        settings = _checked(name, getattr(self, name))
        check_parameters(settings)
        return settings

    def _check(self) -> None:
        check_parameters(self)
        for name in NESTED:
            self._nested(name)

    def _changed(self) -> dict[str, str]:
        """The parameters that were not left at their defaults, as Python would write them."""
        return {
            name: repr(getattr(self, name))
            for name, one in parameters_of(self).items()
            if repr(getattr(self, name)) != repr(one.default)
        }


def _checked(name: str, settings: object) -> Any:
    kind = NESTED[name]
    if settings is not None and not isinstance(settings, kind):
        raise MisfeatError(f"{Setting(name, settings)}; it must be a {kind.__name__}, or None.")
    return kind() if settings is None else settings
