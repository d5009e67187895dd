"""SelectorParameters: the parameters of `SubgroupSelector`, each said once."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any

from misfeat.parameters import declaration as takes
from misfeat.parameters.declaration import parameter, with_parameters
from misfeat.runtime.devices import DEVICES

if TYPE_CHECKING:
    from misfeat.cohorts.column_coding import Coding
    from misfeat.completion import BaseCompleter
    from misfeat.transformer import Columns


@with_parameters
class SelectorParameters:
    """The parameters of `SubgroupSelector`, apart from the estimator, so that reading them is fast.

    {parameters}
    """

    groups: Any = parameter(takes.anything("str, dict, list of these, or None"), default=None)
    size: int | str = parameter(takes.an_integer_or("auto"), default=3)
    k: int = parameter(takes.an_integer(), default=10)
    _: KW_ONLY
    estimate: str = parameter(
        takes.one_of("population", "above_chance", "sample"), default="population"
    )
    measure: str = parameter(takes.one_of("mutual_info", "r2"), default="mutual_info")
    weights: str = parameter(takes.one_of("sampling", "frequency"), default="sampling")
    design: Mapping[str, str] | None = parameter(
        takes.anything("dict of str to str, or None"), default=None
    )
    completer: "str | BaseCompleter" = parameter(
        takes.anything("str or BaseCompleter"), default="auto"
    )
    confidence: float | None = parameter(takes.a_level(), default=0.9)
    coding: "Coding | None" = parameter(takes.anything("Coding or None"), default=None)
    columns: "Columns | None" = parameter(takes.anything("Columns or None"), default=None)
    include: Sequence[str] | None = parameter(takes.anything("list of str or None"), default=None)
    exclude: Sequence[str] | str | None = parameter(
        takes.anything("list of str, str or None"), default=None
    )
    blocks: Mapping[str, Sequence[str]] | None = parameter(
        takes.anything("dict of str to list of str, or None"), default=None
    )
    budget: float = parameter(takes.a_share(), default=1.0)
    sampler: str = parameter(
        takes.one_of("randwalk", "arbitrary", "stratified"), default="randwalk"
    )
    random_state: int | None = parameter(takes.an_integer(least=0, none=True), default=None)
    device: str = parameter(takes.one_of(*DEVICES), default="auto")
    n_jobs: int | None = parameter(takes.a_number_of_threads(), default=None)
    verbose: int = parameter(takes.a_verbosity(), default=0)
