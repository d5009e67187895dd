"""`misfeat site`: sites that may not share records, from agreeing on a coding to the answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from misfeat.cli import errors
from misfeat.cli.errors import Quiet, notes_said, say, with_debug
from misfeat.cli.run_options import PARAMETERS, READERS, Several
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting, listed
from misfeat.saving.run_folder import REPORT, check_folder

if TYPE_CHECKING:
    from misfeat.cohorts.column_coding import Coding

site = typer.Typer(
    help="Answers for sites that may not share records: each shares counts that it can read.",
    no_args_is_help=True,
)


def key(out: str, quiet: Quiet = False) -> None:
    """Make a key that signs what a site sends; keep the file where only the site can read it."""
    from misfeat import sites

    public = sites.make_key(out)
    if not quiet:
        say(f"Others know the site by {public}")


def propose(
    table: str,
    target: str,
    name: str,
    out: str = "proposal.json",
    exclude: Several = None,
    bins: Several = None,
    missing: Several = None,
    read: Several = None,
    signing_key: str = "",
    quiet: Quiet = False,
) -> None:
    """Propose columns, common values and rounded cut points; nothing else is in the file."""
    from misfeat import sites

    _check_out(out, table, signing_key)
    secret = _key(signing_key)
    with notes_said(quiet):
        coding, others = _coding(missing, read, bins), tuple(exclude or ())
        found = sites.propose(table, target, name, coding=coding, exclude=others, key=secret)
        found.write(out, secret)
    if not quiet:
        for column, why in found.left_out.items():
            say(f"Column {column!r} is not proposed: {why}.")
        say(f"Proposal of {len(found.features)} features: {out}")


def agree(
    proposals: list[str],
    out: str = "codebook.json",
    edition: int = 1,
    signing_key: str = "",
    quiet: Quiet = False,
) -> None:
    """Make one codebook of the proposals of all sites, and say where they disagree."""
    from misfeat import sites

    _check_out(out, *proposals, signing_key)
    read = [sites.read_proposal(file) for file in proposals]
    codebook, disagreements = sites.agree(read, edition)
    codebook.write(out, _key(signing_key))
    for words in disagreements:
        typer.echo(f"Disagreement: {words}.")
    if not quiet:
        names = ", ".join(codebook.sites)
        say(f"Codebook of {len(codebook.features)} features for {names}: {out}")
        say(f"Its fingerprint, to be compared by all: {codebook.fingerprint}")


def summarise(
    table: str,
    codebook: str,
    name: str,
    out: str,
    share: str = "tables2",
    min_cell: int = 5,
    missing: Several = None,
    read: Several = None,
    signing_key: str = "",
    quiet: Quiet = False,
) -> None:
    """Count what the site shares; 'site show' says exactly what is in it."""
    from misfeat import sites
    from misfeat.runtime.progress import progress_shown
    from misfeat.sites.site_counts import check_takes_part

    _check_out(out, table, codebook, signing_key)
    secret, agreed = _key(signing_key), sites.read_codebook(codebook)
    check_takes_part(agreed, name, secret)
    with notes_said(quiet), progress_shown(not quiet) as progress:
        found = sites.summarise(
            table,
            agreed,
            name,
            share=share,
            min_cell=min_cell,
            key=secret,
            coding=_coding(missing, read),
            progress=progress,
        )
        size = sites.write_summary(found, out, secret)
    if not quiet:
        never = [one.column for one in agreed.features if one.column not in found.features]
        if never:
            say(f"Never recorded here, and declared so: {listed(never)}")
        about = "" if found.exact else "about "
        say(f"Summary of {about}{found.rows:,} rows, {size:,} bytes: {out}")
        say(f"Read what leaves your site: misfeat site show {out}")


def show(summary: str, quiet: Quiet = False) -> None:
    """Say exactly what a summary contains, and what could be worked out from it."""
    from misfeat.sites import read_summary
    from misfeat.sites.summary import disclosed

    del quiet
    for line in disclosed(read_summary(summary)):
        typer.echo(line)


def combine(
    summaries: list[str],
    out: str,
    codebook: str = "",
    size: int | None = None,
    top: int = 10,
    quiet: Quiet = False,
) -> None:
    """Put summaries together: an ordinary run with its report, for all sites.

    The exit code is 3 where some summary was refused and the others answered.
    """
    from misfeat import sites
    from misfeat.show.report import make_report

    folder = check_folder(out)
    with errors.warnings_as_notes(quiet) as warned:
        agreed = sites.read_codebook(codebook) if codebook else None
        found = sites.combine(summaries, codebook=agreed, size=size, k=top, verbose=int(not quiet))
        page = make_report(found.selection, "").html().encode()
        found.selection.save(folder, beside={REPORT: page})
        found.selection.show()
    for refusal in found.refused:
        say(f"Refused: {refusal.name}: {refusal.why}")
    if not quiet:
        errors.say_notes(warned)
        say(f"Sites: {', '.join(one.site for one in found.taken)}")
        say(f"Run: {folder}")
    if found.refused:
        raise typer.Exit(errors.SOME_REFUSED)


def _check_out(out: str, *read: str) -> None:
    """Raise before something that is read would be written over."""
    for file in filter(None, read):
        if Path(out).exists() and Path(file).exists() and Path(out).samefile(file):
            raise MisfeatError(f"{Setting('out', out)} is a file that is read; give another one.")


def _key(file: str) -> Any:
    from misfeat.sites import read_key

    return read_key(file) if file else None


def _coding(missing: Several, read: Several, bins: Several = None) -> "Coding":
    from misfeat.cohorts.column_coding import Coding

    given = {"missing": missing, "read": read, "bins": bins}
    rules = {PARAMETERS.get(name, name): READERS[name](one) for name, one in given.items() if one}
    return Coding(**rules)


for command in (key, propose, agree, summarise, show, combine):
    site.command()(with_debug(command))
