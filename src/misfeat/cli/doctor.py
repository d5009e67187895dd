"""`misfeat doctor`: what is installed, what is missing and how to get it, and whether it works."""

import json as json_format
import os
import platform
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from misfeat.cli.background_compilation import compiled_beside
from misfeat.cli.errors import INTERNAL_ERROR, Debug, Quiet
from misfeat.messages import visible_json
from misfeat.number_formatting import count_words
from misfeat.runtime.devices import torch_device

FRAMES = ("pandas", "polars")  # libraries of tables that no extra brings
FOR_DEVELOPERS = ("test", "dev", "heavy", "browser", "docs", "release", "demo")
WELL = "ok"  # what a step of the self-test says that went well


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show versions, devices and libraries, and try misfeat out on a small table."""
    from misfeat.runtime.progress import progress_shown

    with progress_shown(not quiet), compiled_beside():
        found = examine(debug)
    if json:
        typer.echo(visible_json(json_format.dumps(found, indent=1, ensure_ascii=False)))
    else:
        _print(found)
    if not found["healthy"]:
        raise typer.Exit(INTERNAL_ERROR)


def examine(debug: bool = False) -> dict[str, Any]:
    """Versions, machine, extras and a self-test, each by name, and whether all is well."""
    # With `debug`, what goes wrong in the self-test is raised rather than reported.
    from misfeat.version import __version__

    extras = requirements()
    needed = {name: installed(name) for name in extras.pop("")}
    versions = {"misfeat": __version__, "Python": platform.python_version()}
    for name, number in needed.items():
        versions[name] = number or f"not installed: pip install {name}"
    libraries = {}
    for name, packages in extras.items():
        there = [f"{package} {installed(package)}" for package in packages if installed(package)]
        missing = f"missing: pip install {name if name in FRAMES else repr(f'misfeat[{name}]')}"
        libraries[name] = ", ".join(there) if len(there) == len(packages) else missing
    complete = all(needed.values())
    tests = _self_test(debug) if complete else {}
    return {
        "versions": versions,
        "machine": _machine() if complete else {},
        "extras": libraries,
        "self_test": tests,
        "healthy": bool(tests) and all(text.startswith(WELL) for text in tests.values()),
    }


def installed(package: str) -> str | None:
    """The version of a package, None where it is not there."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def requirements() -> dict[str, list[str]]:
    """The packages that misfeat always needs (under an empty name), and those of each extra."""
    from importlib.metadata import metadata

    from packaging.requirements import Requirement

    about = metadata("misfeat")
    required = [Requirement(text) for text in about.get_all("Requires-Dist") or []]
    found = {"": [one.name for one in required if "extra ==" not in str(one.marker)]}
    found |= {name: [name] for name in FRAMES}
    for extra in set(about.get_all("Provides-Extra") or []) - {*FOR_DEVELOPERS}:
        chosen = [one for one in required if f'extra == "{extra}"' in str(one.marker)]
        found[extra] = [one.name for one in chosen if one.name != "misfeat"]
    return {name: packages for name, packages in sorted(found.items()) if packages}


def _machine() -> dict[str, Any]:
    from joblib import effective_n_jobs

    from misfeat.runtime.memory import GIB, available_memory, current_limit

    machine = {
        "cores": os.cpu_count(),
        "threads": effective_n_jobs(-1),
        "free memory (GiB)": round(available_memory() / GIB, 1),
        "memory limit": current_limit(),
        "compiled kernels": kernel_folder() or "NOT writable: compiled every time",
    }
    if installed("torch"):  # which only some completers need
        import torch

        cuda = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
        machine["cuda"] = [torch.cuda.get_device_name(number) for number in cuda]
        machine["mps"] = torch.backends.mps.is_available()
        machine["trains on"] = torch_device("auto").type
    return machine


def kernel_folder() -> str | None:
    """Where Numba keeps some compiled kernels, others beside it; None where it can write nowhere.

    It chooses folders that it can write to.
    """
    kernels: Any = import_module("misfeat.lattice.sampling")
    kernel = next(thing for thing in vars(kernels).values() if hasattr(thing, "py_func"))
    path = kernel.stats.cache_path
    if path is None:
        return None
    there = next(one for one in (Path(path), *Path(path).parents) if one.exists())
    return str(path) if os.access(there, os.W_OK) else None


def _self_test(debug: bool) -> dict[str, str]:
    """Try the main steps on a small table; the first that fails is the last."""
    from misfeat.answers.top_sets import best_sets
    from misfeat.datasets import make_cohorts
    from misfeat.selector import SubgroupSelector

    step, tests = "answers for a generated table", {}
    try:
        data = make_cohorts(n_rows=300, n_features=6, hide=0.3, random_state=0)
        selector = SubgroupSelector(data.groups, size=2, k=10).fit(data.columns, data.target)
        answer = best_sets(selector.selection_)
        sources = sorted({best.source for best in answer})
        if sources != ["predicted", "recorded"]:
            raise RuntimeError(f"expected recorded and predicted scores, found {sources}")
        tests[step] = f"{WELL}, {len(answer)} sets in {len(selector.cohorts_.names)} subgroups"
        step = "tests against chance"
        tests[step] = f"{WELL}, {count_words(len(selector.significance()), 'set')}"
        step = "the same after saving and loading"
        with tempfile.TemporaryDirectory() as folder:
            selector.save(Path(folder) / "run")
            if best_sets(SubgroupSelector.load(Path(folder) / "run").selection_) != answer:
                raise RuntimeError("the answer is another one")
        tests[step] = WELL
    except Exception as error:
        if debug:
            raise
        tests[step] = f"FAILED: {type(error).__name__}: {error}"
    return tests


def _print(found: dict[str, Any]) -> None:
    from misfeat.show.terminal import new_console, new_table, plain_text

    console = new_console()
    for title in ("versions", "machine", "extras", "self_test"):
        table = new_table(title.capitalize().replace("_", "-"))
        table.show_header = False
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, text in found[title].items():
            table.add_row(name, plain_text(str(text)))
        console.print(table)
    verdict = "All is well." if found["healthy"] else "Something is wrong; see above."
    console.print(verdict, style="bold green" if found["healthy"] else "bold red", markup=False)
