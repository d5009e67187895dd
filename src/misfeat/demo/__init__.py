"""The demonstration: heart disease in four hospitals, or diabetes in a health survey."""

from __future__ import annotations

from misfeat.exceptions import MisfeatError, listed

__all__ = ["EXAMPLES", "run_demo"]

EXAMPLES = ("heart", "nhanes")  # the tables to choose from, the first by default


def run_demo(folder: str, example: str = EXAMPLES[0]) -> None:
    """Say what explains most in every subgroup of an example table, and write a report."""
    from misfeat.saving.run_folder import check_folder

    if example not in EXAMPLES:
        raise MisfeatError(f"{example!r} is not an example; choose one of {listed(EXAMPLES)}.")
    path = check_folder(folder)
    from misfeat.demo.examples import HOSPITALS, SURVEY, run_example

    run_example(HOSPITALS if example == "heart" else SURVEY, path)
