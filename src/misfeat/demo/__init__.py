"""The demonstration: heart disease in four hospitals, a health survey, or generated clinics."""

from __future__ import annotations

from misfeat.exceptions import MisfeatError, listed

__all__ = ["EXAMPLES", "run_demo"]

EXAMPLES = ("heart", "nhanes", "clinics")
"""The tables to choose from, the first by default."""


def run_demo(folder: str, example: str = EXAMPLES[0]) -> None:
    """Say what tells most in every subgroup of an example table, and write a report."""
    from misfeat.saving.run_folder import check_folder

    if example not in EXAMPLES:
        raise MisfeatError(f"{example!r} is no example; choose one of {listed(EXAMPLES)}.")
    path = check_folder(folder)
    # Only what is asked for is imported; all of them draw in the compiled kernels.
    if example == "clinics":
        from misfeat.demo.clinics import run_clinics

        run_clinics(path)
        return
    from misfeat.demo.examples import HOSPITALS, SURVEY, fit_and_print, print_paths

    chosen = HOSPITALS if example == "heart" else SURVEY
    fit_and_print(chosen.fitted, path, chosen.title, chosen.introduction)
    print_paths(path)
