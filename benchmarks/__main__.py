"""`python -m benchmarks`: answers held against a known truth, and how long they take.

    python -m benchmarks population --jobs 16 --out benchmarks/population

Real tables are read from the folder that `MISFEAT_DATA` (or `--data`) names.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from misfeat.cli.errors import Debug, OneLineErrors, Quiet
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from benchmarks.downstream.experiment import DownstreamBench
    from benchmarks.population.experiment import PopulationBench

app = typer.Typer(
    name="python -m benchmarks",
    cls=OneLineErrors,
    help="Measure answers and speed where the truth is known.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Tables = Annotated[
    str, typer.Option(help="Names of tables, separated by semicolons; the usual ones by default.")
]
Rows = Annotated[str, typer.Option(help="Rows drawn from every subgroup, separated by commas.")]
Hidden = Annotated[str, typer.Option(help="Shares of features to hide, separated by commas.")]
Draws = Annotated[int, typer.Option(help="Number of draws.")]
Size = Annotated[int, typer.Option(help="Features per set.")]
Sizes = Annotated[str, typer.Option(help="Features per set, separated by commas.")]
Data = Annotated[
    str,
    typer.Option(help="The folder of the real tables; else the one that MISFEAT_DATA names."),
]
FirstSeed = Annotated[
    int, typer.Option(help="Seed of the first draw; settings were chosen on draws 1 to 34.")
]
Threads = Annotated[int, typer.Option(help="Threads; -1 for all.")]
Jobs = Annotated[int, typer.Option(help="Processes; -1 for all cores. Figures stay the same.")]
Out = Annotated[
    str,
    typer.Option(help="Folder for CSV files, plots and a page; a stopped run is resumed there."),
]


def split(text: str, separator: str) -> list[str]:
    """The parts of a text, without spaces around them."""
    return [part.strip() for part in text.split(separator) if part.strip()]


@app.command()
def completion(
    completers: Annotated[str, typer.Option(help="Names of completers, separated by commas.")] = (
        "auto,transfer,gain,add"
    ),
    tables: Annotated[
        str, typer.Option(help="Names of tables, separated by semicolons; all by default.")
    ] = "",
    hidden: Hidden = "0.2,0.5",
    seeds: Annotated[int, typer.Option(help="Number of random masks.")] = 10,
    size: Size = 3,
    device: Annotated[str, typer.Option(help="Device for neural completers.")] = "auto",
    out: Annotated[str, typer.Option(help="The folder for the CSV files and the plot.")] = (
        "bench-completion"
    ),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Hide features on purpose: how well does every completer predict them on every table?"""
    from benchmarks.common.tables import TABLES
    from benchmarks.completion.experiment import CompletionBench, report
    from misfeat.runtime.progress import progress_shown
    from misfeat.saving.run_folder import make_folder

    del debug
    asked = CompletionBench(
        completers=tuple(split(completers, ",")),
        tables=tuple(split(tables, ";")) or tuple(TABLES),
        shares=_numbers(hidden, "--hidden", float),
        seeds=tuple(range(1, seeds + 1)),
        size=size,
        device=device,
    )
    make_folder(out)
    with progress_shown(not quiet) as progress:
        rows = list(asked.run(progress))
    for line in report(rows, out):
        typer.echo(line)


@app.command()
def paper(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer tables, seeds and epochs: a few minutes.")
    ] = False,
    device: Annotated[str, typer.Option(help="Where networks are trained.")] = "auto",
    jobs: Threads = -1,
    out: Out = "",
    debug: Debug = False,
) -> None:
    """Run every experiment of the MISFEAT paper, and show ours beside its printed numbers."""
    from benchmarks.paper.experiment import PaperBench
    from benchmarks.paper.plan import FULL, QUICK
    from misfeat.parameters.declaration import parameters_of
    from misfeat.saving.run_folder import make_folder
    from misfeat.selector_parameters import SelectorParameters

    del debug
    for name, value in (("device", device), ("n_jobs", jobs)):
        parameters_of(SelectorParameters)[name].metadata["takes"].check(value, name)
    folder = out or ("bench-paper-quick" if quick else "bench-paper")
    make_folder(folder)
    PaperBench(QUICK if quick else FULL, jobs, device).run(folder, typer.echo)


@app.command()
def speed(
    quick: Annotated[
        bool, typer.Option("--quick", help="Small tables: less than a minute on two cores.")
    ] = False,
    tables: Annotated[
        str, typer.Option(help="Names of tables, separated by commas; all by default.")
    ] = "",
    jobs: Threads = -1,
    cold: Annotated[
        bool, typer.Option("--cold", help="Time the first run after an installation, too.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    out: Annotated[str, typer.Option(help="A folder for speed.json and steps.csv.")] = "",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Time fit, answers and report of generated tables, step by step, and their memory."""
    from benchmarks.speed.experiment import (
        SpeedBench,
        as_json,
        heading,
        machine,
        sentences,
        step_table,
        write_figures,
    )
    from misfeat.parameters.declaration import parameters_of
    from misfeat.runtime.progress import progress_shown
    from misfeat.saving.run_folder import make_folder
    from misfeat.selector_parameters import SelectorParameters
    from misfeat.show.terminal import new_console

    del debug
    parameters_of(SelectorParameters)["n_jobs"].metadata["takes"].check(jobs, "n_jobs")
    named = split(tables, ",") or list(filter(None, [tables]))
    asked = SpeedBench(tuple(named), quick, jobs, cold)
    if out:
        make_folder(out)
    with progress_shown(not quiet) as progress:
        found = list(asked.run(progress))
    if out:
        write_figures(out, machine(), found)
    if json:
        typer.echo(as_json(machine(), found))
        return
    console = new_console()
    for one in found:
        typer.echo(heading(one) if "steps" in one else "cold start")
        if "steps" in one:
            console.print(step_table(one))
        for line in sentences(one):
            typer.echo(line)


@app.command()
def population(
    tables: Tables = "",
    rows: Rows = "100,300,1000,3000",
    hide: Hidden = "0,0.2,0.5",
    seeds: Draws = 10,
    first_seed: FirstSeed = 1,
    sizes: Sizes = "1,2,3,4,5,8,12",
    jobs: Jobs = 1,
    data: Data = "",
    out: Out = "bench-population",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Draw rows from large tables: do the sets that look best explain most in the population?"""
    from benchmarks.common.draws import USUAL
    from benchmarks.population.experiment import PopulationBench

    del debug
    asked = PopulationBench(
        tables=tuple(split(tables, ";")) or USUAL,
        rows=_numbers(rows, "--rows", int),
        shares=_numbers(hide, "--hide", float),
        seeds=tuple(range(first_seed, first_seed + seeds)),
        sizes=_numbers(sizes, "--sizes", int),
        n_jobs=jobs,
    )
    _run_draws(asked, out, data, quiet)


@app.command()
def downstream(
    tables: Tables = "",
    rows: Rows = "200,500,1500",
    sizes: Sizes = "1,2,3,4,5,8,12",
    seeds: Draws = 10,
    first_seed: FirstSeed = 1,
    methods: Annotated[
        str, typer.Option(help="Names of methods, separated by semicolons; all by default.")
    ] = "",
    jobs: Jobs = 1,
    data: Data = "",
    out: Out = "bench-downstream",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Choose features on drawn rows: how well do models predict other rows with them?"""
    from benchmarks.common.draws import USUAL
    from benchmarks.downstream.experiment import METHODS, DownstreamBench

    del debug
    asked = DownstreamBench(
        tables=tuple(split(tables, ";")) or USUAL,
        rows=_numbers(rows, "--rows", int),
        sizes=_numbers(sizes, "--sizes", int),
        seeds=tuple(range(first_seed, first_seed + seeds)),
        methods=tuple(split(methods, ";")) or METHODS,
        n_jobs=jobs,
    )
    _run_draws(asked, out, data, quiet)


@app.command()
def field(
    part: Annotated[str, typer.Option(help="selection, missing or recovery.")] = "selection",
    tables: Tables = "",
    rows: Annotated[str, typer.Option(help="Rows drawn, separated by commas; or all.")] = "",
    seeds: Annotated[str, typer.Option(help="Seeds of draws, separated by commas.")] = "",
    figures_only: Annotated[
        bool, typer.Option("--figures-only", help="Run nothing; write figures of what is done.")
    ] = False,
    jobs: Jobs = 1,
    data: Data = "",
    out: Out = "bench-field",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Beside the field: models on chosen features, unrecorded features, planted sets."""
    import os

    from benchmarks.common.datasets import FOLDER_VARIABLE
    from benchmarks.field.experiment import part_of, run, write_figures

    del debug
    if data:
        os.environ[FOLDER_VARIABLE] = data
    asked = part_of(
        part,
        tables=split(tables, ";"),
        rows=[one if one == "all" else int(one) for one in split(rows, ",")],
        seeds=_numbers(seeds, "--seeds", int),
    )
    tell = (lambda _: None) if quiet else partial(typer.echo, err=True)
    lines = write_figures(asked, out) if figures_only else run(asked, out, tell, jobs)
    for line in lines:
        typer.echo(line)


def _run_draws(asked: PopulationBench | DownstreamBench, out: str, data: str, quiet: bool) -> None:
    """Run a benchmark that draws rows, and print its summary."""
    import os

    from benchmarks.common.datasets import FOLDER_VARIABLE
    from misfeat.saving.run_folder import make_folder

    if data:
        os.environ[FOLDER_VARIABLE] = data  # processes that draw read it, too
    make_folder(out)
    tell = (lambda _: None) if quiet else partial(typer.echo, err=True)
    for line in asked.run(out, tell):
        typer.echo(line)


def _numbers(text: str, option: str, kind: type[int | float]) -> tuple[Any, ...]:
    """Numbers that stand one after the other, separated by commas."""
    numbers = []
    for part in split(text, ","):
        try:
            numbers.append(kind(part))
        except ValueError:
            words = "whole number" if kind is int else "number"
            raise MisfeatError(f"{option}: {part!r} is no {words}.") from None
    return tuple(numbers)


if __name__ == "__main__":
    app()
