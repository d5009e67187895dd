"""What `misfeat doctor` looks at."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement

from misfeat.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from misfeat.runtime.progress import Progress
    from misfeat.selector import SubgroupSelector

TABLES = {
    "pandas": "pip install pandas",
    "polars": "pip install polars",
    "pyarrow": "pip install 'misfeat[duckdb]'",
    "duckdb": "pip install 'misfeat[duckdb]'",
    "pyspark": "pip install 'misfeat[spark]'",
    "dask": "pip install 'misfeat[dask]'",
    "ibis-framework": "pip install 'misfeat[ibis]'",
}
FOR_DEVELOPERS = ("test", "dev", "heavy", "browser", "docs")
"""Extras that users of misfeat do not need."""
SECONDS_FOR_JAVA = 20


def examine(debug: bool = False, progress: Progress | None = None) -> dict[str, Any]:
    """Everything there is to know, as plain values.

    With `debug`, what goes wrong in the self-test is raised rather than said.
    """
    needed = requirements()
    versions = {name: installed(name) for name in needed.pop("")}
    complete = all(versions.values())
    tests = _self_test(debug, progress) if complete else []
    return {
        "versions": {
            "misfeat": __version__,
            "Python": platform.python_version(),
            **versions,
        },
        "machine": _machine() if complete else {},
        "kernel_cache": kernel_cache() if complete else {},
        "tables": {
            **{name: _with_remedy(name, remedy) for name, remedy in TABLES.items()},
            "java": {"version": _java(), "install": "Spark needs a Java runtime, 17 or newer"},
        },
        "extras": {
            name: _extra(name, packages)
            for name, packages in needed.items()
            if name not in FOR_DEVELOPERS
        },
        "self_test": tests,
        "healthy": bool(tests) and all(test["ok"] for test in tests),
    }


def installed(package: str) -> str | None:
    """The version of a package, None where it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def requirements() -> dict[str, list[str]]:
    """The packages that misfeat needs always (under an empty name), and for each extra.

    Examples
    --------
    >>> requirements()["duckdb"]
    ['duckdb', 'pyarrow']
    """
    about = metadata("misfeat")
    asked = [Requirement(text) for text in about.get_all("Requires-Dist") or []]
    extras = about.get_all("Provides-Extra") or []
    always = [one for one in asked if _is_for("", one)]
    return {
        "": [one.name for one in always],
        **{
            extra: _brought_by(extra, [one for one in asked if one not in always])
            for extra in extras
        },
    }


def _brought_by(extra: str, asked: list[Requirement]) -> list[str]:
    """The packages of an extra, those of the extras that it builds on included."""
    own = [one for one in asked if _is_for(extra, one)]
    packages = [one.name for one in own if one.name != "misfeat"]
    for other in sorted(name for one in own if one.name == "misfeat" for name in one.extras):
        packages += _brought_by(other, asked)
    return list(dict.fromkeys(packages))


def _is_for(extra: str, asked: Requirement) -> bool:
    return asked.marker is None or asked.marker.evaluate({"extra": extra})


def _with_remedy(package: str, remedy: str) -> dict[str, str | None]:
    return {"version": installed(package), "install": remedy}


def _extra(name: str, packages: list[str]) -> dict[str, str | None]:
    found = {package: installed(package) for package in packages}
    complete = ", ".join(f"{package} {there}" for package, there in found.items())
    return {
        "version": complete if all(found.values()) else None,
        "install": f"pip install 'misfeat[{name}]'",
    }


def _java() -> str | None:
    command = shutil.which("java")
    if command is None:
        return None
    try:
        told = subprocess.run(  # noqa: S603
            [command, "-version"], capture_output=True, text=True, timeout=SECONDS_FOR_JAVA
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = (told.stderr or told.stdout).splitlines()
    return lines[0].strip() if lines and told.returncode == 0 else None


def _machine() -> dict[str, Any]:
    from joblib import effective_n_jobs

    from misfeat.runtime.memory import GIB, available_memory, current_limit

    return {
        "cores": os.cpu_count(),
        "threads": effective_n_jobs(-1),
        "free_memory_gib": round(available_memory() / GIB, 1),
        "memory_limit": current_limit(),
        "training": _training() if installed("torch") else None,
    }


def _training() -> dict[str, Any]:
    """Where PyTorch, which only some completers need, would train their networks."""
    import torch

    from misfeat.runtime.devices import torch_device

    cuda = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    return {
        "cuda": [torch.cuda.get_device_name(number) for number in cuda],
        "mps": torch.backends.mps.is_available(),
        "device": torch_device("auto").type,
    }


def kernel_cache() -> dict[str, Any]:
    """Where Numba keeps compiled kernels: it chooses folders that it can write to, or none.

    The ``folder`` of some kernels, what the folders of all lie ``within``, and whether it is
    ``writable``.
    """
    kernels: Any = import_module("misfeat.lattice.walk")
    kernel = next(thing for thing in vars(kernels).values() if hasattr(thing, "py_func"))
    folder = kernel.stats.cache_path
    if folder is None:
        return {"folder": None, "within": None, "writable": False}
    place = Path(folder)
    there = next(parent for parent in (place, *place.parents) if parent.exists())
    within = place.parents[1] if place.name == "__pycache__" else place.parent
    return {"folder": str(place), "within": str(within), "writable": os.access(there, os.W_OK)}


def _self_test(debug: bool, progress: Progress | None) -> list[dict[str, Any]]:
    """Try the main steps one by one; the first that fails is the last."""
    trial = _Trial()
    steps: dict[str, Callable[[], str]] = {
        "answers for a generated table": trial.fit,
        "the same after saving and loading": trial.save_and_load,
        "the same from a CSV file": trial.read_csv,
    }
    done = []
    for number, (what, step) in enumerate(steps.items()):
        if progress is not None:
            progress("Trying misfeat out", number, len(steps))
        try:
            found, ok = step(), True
        except Exception as error:
            if debug:
                raise
            found, ok = f"FAILED: {type(error).__name__}: {error}", False
        done.append({"what": what, "ok": ok, "found": found})
        if not ok:
            break
    return done


class _Trial:
    """A small table of which the truth is known, and what misfeat says about it."""

    def __init__(self) -> None:
        self._answer: Any = None

    def fit(self) -> str:
        """Fit, with recorded and predicted scores, and compare one with the table's own truth."""
        from misfeat.answers.top import best_sets
        from misfeat.datasets import make_cohorts

        self._data = make_cohorts(n_rows=300, n_features=6, hide=0.3, random_state=0)
        self._selector = self._new().fit(self._data.columns, self._data.target)
        self._answer = best_sets(self._selector.selection_)
        sources = {best.source for best in self._answer}
        if sources != {"recorded", "predicted"}:
            raise RuntimeError(f"expected recorded and predicted scores, found {sorted(sources)}")
        return f"ok, {len(self._answer)} sets in {len(self._selector.cohorts_.names)} subgroups"

    def save_and_load(self) -> str:
        """Save, load, and ask again."""
        with tempfile.TemporaryDirectory() as folder:
            self._selector.save(Path(folder) / "run")
            again = type(self._selector).load(Path(folder) / "run")
        return self._same(again)

    def read_csv(self) -> str:
        """Write the table as a CSV file, fit on that, and compare."""
        import csv

        if installed("duckdb") is None or installed("pyarrow") is None:
            return "left out: files need pip install 'misfeat[duckdb]'"
        columns = self._data.columns
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(columns)
                rows = zip(*columns.values(), strict=True)
                writer.writerows([["" if v != v else v for v in row] for row in rows])
            return self._same(self._new().fit(str(path), self._data.target))

    def _new(self) -> SubgroupSelector:
        from misfeat.selector import SubgroupSelector

        return SubgroupSelector(self._data.groups, size=2, k=10)

    def _same(self, selector: SubgroupSelector) -> str:
        from misfeat.answers.top import best_sets

        if best_sets(selector.selection_) != self._answer:
            raise RuntimeError("the answer is another one")
        return "ok"
