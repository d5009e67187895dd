"""`misfeat doctor`: what is installed, what is missing and how to get it, and whether it works."""

from __future__ import annotations

import json as json_format
import os
import platform
import shutil
import subprocess
import tempfile
from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from packaging.requirements import Requirement

from misfeat.cli.errors import INTERNAL_ERROR, Debug, Quiet
from misfeat.exceptions import MisfeatError
from misfeat.safe_text import visible, visible_json
from misfeat.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.runtime.progress import Progress

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


def doctor(
    compile: Annotated[  # noqa: A002 (the name of the option)
        bool,
        typer.Option("--compile", help="Compile all kernels that a default run needs, and stop."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show versions, devices and libraries, and try misfeat out on a small table."""
    from misfeat.cli.compilation import compiled_beside
    from misfeat.runtime.progress import progress_shown

    if compile:
        _compile(json, quiet)
        return
    with progress_shown(not quiet) as progress, compiled_beside():
        found = examine(debug, progress)
    if json:
        typer.echo(visible_json(json_format.dumps(found, indent=1, ensure_ascii=False)))
    else:
        _print(found)
    if not found["healthy"]:
        raise typer.Exit(INTERNAL_ERROR)


def _compile(json: bool, quiet: bool) -> None:
    """Compile what is not kept yet, and say what that took and where it lies."""
    from misfeat.cli.compilation import compile_all
    from misfeat.runtime.progress import progress_shown

    cache = kernel_cache()
    if not cache["writable"]:
        raise MisfeatError(
            "Kernels cannot be kept, since no folder for them can be written; name one that can "
            "with NUMBA_CACHE_DIR=DIR."
        )
    named = os.environ.get("NUMBA_CACHE_DIR")  # which Numba may pass over without a word
    if named and not Path(cache["folder"]).is_relative_to(Path(named).absolute()):
        raise MisfeatError(
            f"NUMBA_CACHE_DIR={named} is not a folder that can be written, and kernels would be "
            f"kept within {cache['within']!r}; name another, or leave it out."
        )
    with progress_shown(not quiet) as progress:
        kernels, seconds = compile_all(progress)
    if json:
        found = {"kernels": kernels, "compiling_seconds": round(seconds, 1), "kernel_cache": cache}
        typer.echo(visible_json(json_format.dumps(found)))
    elif kernels:
        many = "s" if kernels > 1 else ""
        where = f"they are kept within {visible(cache['within'])}."
        typer.echo(f"Compiled {kernels:,} kernel{many} in {seconds:,.0f} s; {where}")
    else:
        where = f"kernels are kept within {visible(cache['within'])}."
        typer.echo(f"Nothing was left to compile; {where}")


def examine(debug: bool = False, progress: Progress | None = None) -> dict[str, Any]:
    """Everything there is to know, as plain values.

    With `debug`, what goes wrong in the self-test is raised rather than reported.
    """
    needed = requirements()
    versions = {name: installed(name) for name in needed.pop("")}
    complete = all(versions.values())
    tests = _self_test(debug, progress) if complete else []
    java = {"version": _java(), "install": "Spark needs a Java runtime, 17 or newer"}
    tables = {name: {"version": installed(name), "install": how} for name, how in TABLES.items()}
    return {
        "versions": {"misfeat": __version__, "Python": platform.python_version(), **versions},
        "machine": _machine() if complete else {},
        "kernel_cache": kernel_cache() if complete else {},
        "tables": {**tables, "java": java},
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
    """The packages that misfeat always needs (under an empty name), and those of each extra."""
    about = metadata("misfeat")
    required = [Requirement(text) for text in about.get_all("Requires-Dist") or []]
    always = [one for one in required if _is_for("", one)]
    others = [one for one in required if one not in always]
    extras = about.get_all("Provides-Extra") or []
    return {"": [one.name for one in always], **{name: _packages(name, others) for name in extras}}


def _packages(extra: str, required: list[Requirement]) -> list[str]:
    """The packages of an extra, those of the extras that it builds on included."""
    own = [one for one in required if _is_for(extra, one)]
    packages = [one.name for one in own if one.name != "misfeat"]
    for other in sorted(name for one in own if one.name == "misfeat" for name in one.extras):
        packages += _packages(other, required)
    return list(dict.fromkeys(packages))


def _is_for(extra: str, required: Requirement) -> bool:
    return required.marker is None or required.marker.evaluate({"extra": extra})


def _extra(name: str, packages: list[str]) -> dict[str, str | None]:
    versions = {package: installed(package) for package in packages}
    words = ", ".join(f"{package} {there}" for package, there in versions.items())
    complete = all(versions.values())
    return {
        "version": words if complete else None,
        "install": f"pip install 'misfeat[{name}]'",
    }


def _java() -> str | None:
    command = shutil.which("java")
    if command is None:
        return None
    try:
        ran = subprocess.run(  # noqa: S603
            [command, "-version"], capture_output=True, text=True, timeout=SECONDS_FOR_JAVA
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = (ran.stderr or ran.stdout).splitlines()
    return lines[0].strip() if lines and ran.returncode == 0 else None


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
    path = Path(folder)
    there = next(parent for parent in (path, *path.parents) if parent.exists())
    within = path.parents[1] if path.name == "__pycache__" else path.parent
    return {"folder": str(path), "within": str(within), "writable": os.access(there, os.W_OK)}


def _self_test(debug: bool, progress: Progress | None) -> list[dict[str, Any]]:
    """Try the main steps one by one; the first that fails is the last."""
    trial = _Trial()
    steps = {
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

    def fit(self) -> str:
        """Fit, with recorded and predicted scores."""
        from misfeat.answers.top import best_sets
        from misfeat.datasets import make_cohorts
        from misfeat.selector import SubgroupSelector

        self._data = make_cohorts(n_rows=300, n_features=6, hide=0.3, random_state=0)
        self._selector = SubgroupSelector(self._data.groups, size=2, k=10)
        self._selector.fit(self._data.columns, self._data.target)
        self._answer = best_sets(self._selector.selection_)
        sources = sorted({best.source for best in self._answer})
        if sources != ["predicted", "recorded"]:
            raise RuntimeError(f"expected recorded and predicted scores, found {sources}")
        return f"ok, {len(self._answer)} sets in {len(self._selector.cohorts_.names)} subgroups"

    def save_and_load(self) -> str:
        """Save, load, and ask again."""
        with tempfile.TemporaryDirectory() as folder:
            self._selector.save(Path(folder) / "run")
            return self._same(type(self._selector).load(Path(folder) / "run"))

    def read_csv(self) -> str:
        """Write the table as a CSV file, fit on that, and compare."""
        import csv

        from sklearn.base import clone

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
            return self._same(clone(self._selector).fit(str(path), self._data.target))

    def _same(self, selector: Any) -> str:
        from misfeat.answers.top import best_sets

        if best_sets(selector.selection_) != self._answer:
            raise RuntimeError("the answer is another one")
        return "ok"


def _print(found: dict[str, Any]) -> None:
    from misfeat.show.console import new_console, new_table, plain_text

    console = new_console()
    tests = [(test["what"], test["found"]) for test in found["self_test"]]
    for title, rows in (
        ("Versions", _versions(found)),
        ("Machine", _machine_lines(found)),
        ("Tables can come from", _optional(found["tables"])),
        ("Extras", _optional(found["extras"])),
        ("Self-test", tests),
    ):
        table = new_table(title)
        table.show_header = False
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, text in rows:
            table.add_row(name, plain_text(text))
        console.print(table)
    verdict = "All is well." if found["healthy"] else "Something is wrong; see above."
    console.print(verdict, style="bold green" if found["healthy"] else "bold red", markup=False)


def _versions(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, there in found["versions"].items():
        yield name, there or f"not installed: pip install {name}"


def _machine_lines(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    machine = found["machine"]
    if not machine:
        yield "", "not looked at, since packages are missing"
        return
    yield "CPU cores", str(machine["cores"])
    yield "threads", f"{machine['threads']} with --jobs -1"
    free, share = machine["free_memory_gib"], machine["memory_limit"]
    yield "free memory", f"{free} GiB, of which scores may take {100 * share:.3g} %"
    training = machine["training"]
    if training is None:
        yield "trains on", "nothing; missing: pip install 'misfeat[neural]'"
    else:
        yield "CUDA", ", ".join(training["cuda"]) or "none"
        yield "MPS", "yes" if training["mps"] else "none"
        yield "trains on", training["device"]
    cache = found["kernel_cache"]
    writable = "writable" if cache["writable"] else "NOT writable: kernels are compiled every time"
    yield "compiled kernels", f"{cache['folder']} ({writable})"


def _optional(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, one in found.items():
        yield name, one["version"] or f"missing: {one['install']}"
