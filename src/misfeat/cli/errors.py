"""What goes wrong takes one line on standard error, and an exit code says which kind it was."""

import errno
import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from misfeat.cli.run_options import as_option, with_help
from misfeat.exceptions import MisfeatError, MisfeatWarning
from misfeat.messages import as_message, visible
from misfeat.runtime.interrupts import INTERRUPTED, answer_interrupt

INTERNAL_ERROR = 1  # exit code: something in misfeat or a library under it broke
BAD_INPUT = 2  # exit code: a table, a file or a request that cannot be answered
SOME_REFUSED = 3  # exit code: the answer was written, without some of what was given
BROKEN_PIPE = 141  # exit code: the reader of a pipe went away; 128 and the number of the signal
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""How a disk or a device says that it takes no more of what is printed."""

_NONE = re.compile(r", or (be )?None\.$")  # a value that only Python has
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")]


def with_debug(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with help, and the option --debug, which `OneLineErrors` reads."""

    @wraps(command)
    def run(*, debug: bool, **options: Any) -> None:  # noqa: ARG001
        command(**options)

    signature, kind = inspect.signature(command, eval_str=True), inspect.Parameter.KEYWORD_ONLY
    debug = inspect.Parameter("debug", kind, default=False, annotation=Debug)
    options = [with_help(one, command.__name__) for one in signature.parameters.values()]
    run.__signature__ = signature.replace(parameters=[*options, debug])  # type: ignore[attr-defined]
    return run


class OneLineErrors(TyperGroup):
    """A group of commands that never ends with a traceback, unless --debug asks for one."""

    def main(self, args: Any = None, *, standalone_mode: bool = True, **extra: Any) -> Any:  # type: ignore[override]
        """Run a command, and end the process with its exit code."""
        words = sys.argv[1:] if args is None else list(args)
        _make_output_writable()
        try:
            code = super().main(words, standalone_mode=False, **extra)
            sys.stdout.flush()
        except BaseException as error:
            code = _told(error, debug="--debug" in words)
            if code is None:
                raise
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Wrap interrupts so that click's handlers do not swallow them."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, BrokenPipeError) as error:
            raise _Stopped(error) from error


class _Stopped(Exception):  # noqa: N818
    """An interrupt: Ctrl-C, or a reader of the output who went away."""


def _told(error: BaseException, debug: bool) -> int | None:
    """Say what went wrong in one line; the exit code, or None where the error is to be raised."""
    if isinstance(error, _Stopped):
        error = error.args[0]
    # While help is printed, a reader who goes away is the context of another error.
    if isinstance(error, BrokenPipeError) or (
        isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError)
    ):
        silence(sys.stdout)
        return BROKEN_PIPE
    # DuckDB says in its own ways that Ctrl-C came while it was at work.
    stopped = any(
        type(one).__name__ == "InterruptException" or str(one) == "Query interrupted"
        for one in (error, error.__cause__)
    )
    if stopped or isinstance(error, KeyboardInterrupt | typer.Abort):
        if debug:
            return None
        answer_interrupt()
        say("interrupted")
        return INTERRUPTED
    if hasattr(error, "format_message"):  # a request that the options do not allow
        return _usage(error)
    if debug or not isinstance(error, Exception):
        return None
    line, code = _line_for(error)
    say(f"error: {line}" if code == BAD_INPUT else line)
    return code


def _usage(error: Any) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        with suppress(OSError):
            typer.echo(error.format_message(), err=True)  # help, of several lines
    else:
        text = " ".join(error.format_message().split()).rstrip(".")
        context = getattr(error, "ctx", None)
        say(f"error: {text}; see '{context.command_path if context else 'misfeat'} --help'.")
    return int(error.exit_code)


def _line_for(error: Exception) -> tuple[str, int]:
    if isinstance(error, MisfeatError):
        return in_options(error.message), BAD_INPUT
    if isinstance(error, OSError) and error.filename is not None:
        return f"{str(error.filename)!r}: {error.strerror}.", BAD_INPUT
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        silence(sys.stdout)
        return f"cannot write the answer: {error.strerror}", BAD_INPUT
    if isinstance(error, MemoryError):
        text = "The memory is full; lower --size, leave features out (--exclude) or use --budget."
        return text, BAD_INPUT
    said = " ".join(f"{type(error).__name__}: {error}".removesuffix(": ").splitlines())
    text = f"internal error: {said.rstrip('.')}; run again with --debug for the traceback"
    return text, INTERNAL_ERROR


def in_options(message: str) -> str:
    """A message on one line, its parameters in the words of the command line."""
    return _NONE.sub(".", " ".join(as_message(message).told(as_option).splitlines()))


def say(text: str) -> None:
    """Write a line to standard error; nobody may be listening any more."""
    with suppress(OSError):
        typer.echo(visible(text), err=True)


def silence(stream: Any) -> None:
    """Send what is still to be written nowhere; Python would complain again when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _make_output_writable() -> None:
    """Open standard output and error where they are closed, and have every character print."""
    # Else the next file that is opened gets their number, and what is printed goes into it.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        with suppress(AttributeError, ValueError):  # what an encoding lacks is replaced
            getattr(sys, name).reconfigure(errors="replace")


@contextmanager
def warnings_as_notes(quiet: bool) -> Iterator[list[str]]:
    """Collect our own warnings, to be printed as notes; others' stay hidden when quiet."""
    ours: list[str] = []
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore")
        warnings.simplefilter("always", MisfeatWarning)
        shown = warnings.showwarning

        def collect(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if issubclass(category, MisfeatWarning):
                ours.append(message.args[0])
            else:
                shown(message, category, *where, **more)

        warnings.showwarning = collect
        yield ours


def say_notes(notes: list[str]) -> None:
    """Print each note once, in the words of the command line."""
    for note in dict.fromkeys(notes):
        say(f"note: {in_options(note)}")


@contextmanager
def notes_said(quiet: bool) -> Iterator[None]:
    """Say our own warnings as notes once the block is done, unless quiet."""
    with warnings_as_notes(quiet) as warned:
        yield
    if not quiet:
        say_notes(warned)
