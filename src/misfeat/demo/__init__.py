"""The demonstration: heart disease in four hospitals."""

from __future__ import annotations

__all__ = ["run_demo"]


def run_demo(folder: str) -> None:
    """Say what explains most in every hospital of the example, and write a report."""
    from misfeat.saving.run_folder import check_folder

    path = check_folder(folder)
    from misfeat.demo.examples import run_example

    run_example(path)
