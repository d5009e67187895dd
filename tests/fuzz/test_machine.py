"""A few drawn cases in every run; `make fuzz` draws many thousands."""

from hypothesis import settings

from misfeat import Coding, Columns
from misfeat.parameters.declaration import parameters_of
from misfeat.selector_parameters import SelectorParameters
from tests.fuzz.machine import Selecting
from tests.fuzz.questions import values_of
from tests.fuzz.tables import GROUP, TARGET, Column, Drawn

A_TABLE = Drawn(
    {
        GROUP: Column("category", ("low", "high") * 3),
        "a": Column("whole", (0, 1, 2) * 2),
        TARGET: Column("flag", (True, False, False) * 2),
    }
)


class Few(Selecting):
    pass


TestFew = Few.TestCase
TestFew.settings = settings(
    max_examples=8, stateful_step_count=8, derandomize=True, deadline=None, database=None
)


def test_every_declared_parameter_is_drawn():
    for kind in (SelectorParameters, Coding, Columns):
        for one in parameters_of(kind).values():
            assert values_of(one, A_TABLE) is not None, one.name
