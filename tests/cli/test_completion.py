"""What a shell is offered."""

from __future__ import annotations

from tests.cli.commands import process


def offered(*words: str) -> list[str]:
    line = " ".join(["misfeat", *words])
    found = process(_MISFEAT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words)))
    assert found.stderr == ""
    return found.stdout.split()


def test_commands_and_options_are_offered():
    assert "--missing-threshold" in offered("run", "--missing")
    assert "doctor" in offered("d")


def test_a_script_for_the_shell_can_be_shown():
    shown = process("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_MISFEAT_COMPLETE=complete_bash" in shown.stdout
