"""The command line: thin over the selector."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from misfeat import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer(
    help="The feature sets that tell most about a target, for every subgroup of a table.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

bench = typer.Typer(help="Measure predictions where the truth is known.", no_args_is_help=True)
app.add_typer(bench, name="bench")

BAD_INPUT = 2
"""The exit code for a table or a request that cannot be answered."""

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines instead of tables.")]


def main() -> None:
    """Run the command line."""
    app()


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"misfeat {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    del version


@app.command()
def run(
    table: Annotated[str, typer.Argument(help="A CSV, TSV or Parquet file, folder or glob.")],
    target: Annotated[str, typer.Option(help="The column to tell about.")],
    by: Annotated[
        list[str] | None,
        typer.Option(help="A column that defines subgroups; COL:40,65 cuts it. May be repeated."),
    ] = None,
    size: Annotated[int, typer.Option(help="Features in a set.")] = 3,
    top: Annotated[int, typer.Option(help="Sets to show for each subgroup.")] = 10,
    bins: Annotated[int, typer.Option(help="Bins of a numeric column.")] = 5,
    missing: Annotated[
        list[str] | None,
        typer.Option(help="A value that means missing, as '?' or COL=0. May be repeated."),
    ] = None,
    missing_threshold: Annotated[
        float, typer.Option(help="Missing in this share of a subgroup: never recorded there.")
    ] = 0.95,
    sporadic: Annotated[
        str, typer.Option(help="Other missing values: 'category' or 'available'.")
    ] = "category",
    min_rows: Annotated[int, typer.Option(help="Smaller subgroups are merged.")] = 1,
    measure: Annotated[
        str, typer.Option(help="'mutual_info', or 'r2' for numeric columns.")
    ] = "mutual_info",
    completer: Annotated[
        str,
        typer.Option(help="How scores are predicted: 'auto', or a name in docs/completion.md."),
    ] = "auto",
    confidence: Annotated[
        float, typer.Option(help="How often the truth is to lie in the interval of a prediction.")
    ] = 0.9,
    device: Annotated[
        str, typer.Option(help="For completers that learn: 'auto', 'cpu', 'cuda' or 'mps'.")
    ] = "auto",
    budget: Annotated[
        float, typer.Option(help="Compute this share of the scores, and predict the others.")
    ] = 1.0,
    seed: Annotated[int | None, typer.Option(help="Repeats what is drawn at random.")] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all.")] = -1,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No notes and no progress.")] = False,
    debug: Debug = False,
) -> None:
    """Print the best feature sets of every subgroup of a table."""
    from misfeat.selector import SubgroupSelector

    with _errors_in_one_line(debug), _warnings_as_notes(quiet) as warned:
        selector = SubgroupSelector(
            groups=[_group(text) for text in by or ()],
            size=size,
            k=top,
            bins=bins,
            missing_values=_missing_values(missing or ()),
            missing_threshold=missing_threshold,
            sporadic=sporadic,
            min_rows=min_rows,
            measure=measure,
            completer=completer,
            confidence=confidence,
            device=device,
            budget=budget,
            random_state=seed,
            n_jobs=jobs,
            verbose=int(not quiet and sys.stderr.isatty()),
        ).fit(table, target)
        notes = dict.fromkeys([*selector.cohorts_.notes, *warned])
        _print_answer(selector, json, [] if quiet else list(notes))


@app.command()
def demo(
    out: Annotated[str, typer.Option(help="The folder for the table and the result.")] = (
        "misfeat-demo"
    ),
    debug: Debug = False,
) -> None:
    """Run the main job on a generated table, and compare predictions with the known truth."""
    from misfeat.demo import run_demo

    with _errors_in_one_line(debug), _warnings_as_notes(False):
        run_demo(out)


@bench.command()
def completion(
    completers: Annotated[str, typer.Option(help="Names of completers, by comma.")] = (
        "auto,transfer,gain,add"
    ),
    tables: Annotated[
        str, typer.Option(help="Names of tables, by semicolon; all where not given.")
    ] = "",
    hidden: Annotated[str, typer.Option(help="Shares of features to hide, by comma.")] = "0.2,0.5",
    seeds: Annotated[int, typer.Option(help="How many masks, numbered from 1.")] = 10,
    size: Annotated[int, typer.Option(help="Features in a set.")] = 3,
    device: Annotated[str, typer.Option(help="For completers that learn.")] = "auto",
    out: Annotated[str, typer.Option(help="The folder for the CSV files and the plot.")] = (
        "bench-completion"
    ),
    debug: Debug = False,
) -> None:
    """Hide features on purpose: how well does every completer predict them on every table?"""
    from misfeat.evaluation.completion_bench import CompletionBench, report
    from misfeat.evaluation.tables import TABLES
    from misfeat.progress import progress_shown

    with _errors_in_one_line(debug):
        asked = CompletionBench(
            completers=_listed(completers, ","),
            tables=_listed(tables, ";") or tuple(TABLES),
            shares=tuple(_number(share, "--hidden") for share in _listed(hidden, ",")),
            seeds=tuple(range(1, seeds + 1)),
            size=size,
            device=device,
        )
        _make_folder(out)
        with progress_shown(sys.stderr.isatty()) as progress:
            rows = list(asked.run(progress))
        for line in report(rows, out):
            typer.echo(line)


@bench.command()
def paper(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer tables, seeds and epochs: a few minutes.")
    ] = False,
    device: Annotated[str, typer.Option(help="Where networks are trained.")] = "auto",
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all.")] = -1,
    out: Annotated[
        str, typer.Option(help="The folder for CSV files, plots and a page; a run goes on there.")
    ] = "",
    debug: Debug = False,
) -> None:
    """Run every experiment of the MISFEAT paper, and show ours beside its printed numbers."""
    from misfeat.devices import check_device
    from misfeat.evaluation.paper import FULL, QUICK, PaperBench
    from misfeat.exceptions import check_jobs

    with _errors_in_one_line(debug):
        check_device(device)
        check_jobs(jobs)
        folder = out or ("bench-paper-quick" if quick else "bench-paper")
        _make_folder(folder)
        PaperBench(QUICK if quick else FULL, jobs, device).run(folder, typer.echo)


def _listed(text: str, separator: str) -> tuple[str, ...]:
    """The parts of a text, without spaces around them.

    Examples
    --------
    >>> _listed("gain, add", ",")
    ('gain', 'add')
    """
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _number(text: str, option: str) -> float:
    from misfeat.exceptions import MisfeatError

    try:
        return float(text)
    except ValueError:
        raise MisfeatError(f"{option}: {text!r} is no number.") from None


def _make_folder(path: str) -> None:
    """Make the folder for results before work starts, so that no work is lost."""
    from pathlib import Path

    from misfeat.exceptions import MisfeatError

    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MisfeatError(f"The folder {path!r} cannot be made: {error.strerror}.") from None


def _print_answer(selector: Any, json: bool, notes: list[str]) -> None:
    from misfeat import printing

    if json:
        for line in printing.json_lines(selector):
            typer.echo(line)
    else:
        printing.print_tables(selector)
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def _group(text: str) -> str | dict[str, list[str]]:
    """Read ``COL`` or ``COL:cut,cut``; a colon that no number or date follows is part of a name.

    Examples
    --------
    >>> _group("age:40,65"), _group("site"), _group("time:of day"), _group("born:1980-01-01")
    ({'age': ['40', '65']}, 'site', 'time:of day', {'born': ['1980-01-01']})
    """
    from misfeat.cohorts.binning import cut_points
    from misfeat.exceptions import MisfeatError

    column, colon, cuts = text.rpartition(":")
    points = cuts.split(",")
    try:
        cut_points(sorted(set(points)), "--by")
    except MisfeatError:
        return text
    return {column: points} if colon else text


def _missing_values(texts: Any) -> dict[str, list[str]]:
    """Read ``CODE`` and ``COL=CODE``.

    Examples
    --------
    >>> _missing_values(["?", "chol=0"])
    {'*': ['?'], 'chol': ['0']}
    """
    codes: dict[str, list[str]] = {}
    for text in texts:
        column, equals, code = text.partition("=")
        if equals and column:
            codes.setdefault(column, []).append(code)
        else:
            codes.setdefault("*", []).append(text)
    return codes


@contextmanager
def _errors_in_one_line(debug: bool) -> Iterator[None]:
    from misfeat.exceptions import MisfeatError

    try:
        yield
    except MisfeatError as error:
        if debug:
            raise
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None


@contextmanager
def _warnings_as_notes(quiet: bool) -> Iterator[list[str]]:
    """Collect our own warnings, to be printed as notes; others' stay hidden when quiet."""
    import warnings

    from misfeat.exceptions import MisfeatWarning

    ours: list[str] = []
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore")
        warnings.simplefilter("always", MisfeatWarning)
        shown = warnings.showwarning

        def collect(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if issubclass(category, MisfeatWarning):
                ours.append(str(message))
            else:
                shown(message, category, *where, **more)

        warnings.showwarning = collect
        yield ours
