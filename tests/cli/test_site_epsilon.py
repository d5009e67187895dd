from __future__ import annotations

import pytest

from misfeat.sites import agree, propose
from tests.cli.commands import run

pytest.importorskip("opendp")


@pytest.fixture
def site(tmp_path):
    lines = [f"{n % 2},{n // 2 % 2},{'yes' if n % 3 else 'no'}" for n in range(600)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,ill", *lines]))
    codebook, _ = agree([propose(str(tmp_path / "t.csv"), "ill", "north")])
    codebook.write(tmp_path / "codebook.json")
    return tmp_path


def summarised(site, *options):
    return run(
        *("site", "summarise", str(site / "t.csv"), "--codebook", str(site / "codebook.json")),
        *("--site", "north", "--out", str(site / "n.misfeat"), *options),
    )


def test_releases_are_written_down_and_the_budget_is_kept_to(site):
    first = summarised(site, "--epsilon", "2", "--budget", "3")
    assert first.exit_code == 0, first.stderr
    assert (site / "misfeat-budget.json").is_file()
    assert summarised(site, "--epsilon", "2").exit_code == 0
    said = run("site", "show", str(site / "n.misfeat")).stdout
    assert "The 2 releases in the site's record have spent" in said
    third = summarised(site, "--epsilon", "2")
    assert third.exit_code != 0
    assert "--budget" in third.stderr
    assert summarised(site, "--epsilon", "2", "--ledger", str(site / "o.json")).exit_code == 0
    assert (site / "o.json").is_file()


@pytest.mark.parametrize("options", [("--budget", "3"), ("--delta", "1e-7"), ("--ledger", "x")])
def test_words_about_noise_need_an_epsilon(site, options):
    found = summarised(site, *options)
    assert found.exit_code != 0
    assert "--epsilon" in found.stderr
    assert options[0] in found.stderr
