from __future__ import annotations

import json

import pytest

from misfeat import MisfeatError
from misfeat.sites import Ledger, make_key, read_key
from misfeat.sites.ledger import Release, ledger_beside
from misfeat.sites.spending import epsilon_of, rho_of

ONE = Release("north", "0" * 64, "tables2", 1.0, 1e-6, rho_of(1.0, 1e-6))


def test_releases_add_up_by_rho(tmp_path):
    ledger = Ledger(tmp_path / "b.json")
    for n in range(1, 5):
        many, rho = ledger.add(ONE)
        assert many == n
        assert rho == pytest.approx(n * ONE.rho)
    assert 1.9 < epsilon_of(rho, 1e-6) < 2.2  # four times the rho, about twice the epsilon
    assert len(ledger.releases()) == 4


def test_a_budget_is_kept_to_and_stays(tmp_path):
    ledger = Ledger(tmp_path / "b.json", budget=1.5)
    ledger.add(ONE)
    ledger.add(ONE)
    with pytest.raises(MisfeatError, match=r"all 3 have spent.*budget=1\.5"):
        ledger.add(ONE)
    with pytest.raises(MisfeatError, match=r"budget=1\.5"):
        Ledger(tmp_path / "b.json").add(ONE)
    assert len(ledger.releases()) == 2
    Ledger(tmp_path / "b.json", budget=4).add(ONE)
    assert len(ledger.releases()) == 3


def test_the_whole_budget_may_be_spent(tmp_path):
    Ledger(tmp_path / "b.json", budget=1.0).add(ONE)


@pytest.mark.parametrize("budget", [0, -1, float("nan"), "4", True])
def test_a_budget_that_is_none_is_refused(tmp_path, budget):
    with pytest.raises(MisfeatError, match="budget"):
        Ledger(tmp_path / "b.json", budget=budget).add(ONE)


def test_an_altered_record_is_refused(tmp_path):
    file = tmp_path / "b.json"
    Ledger(file).add(ONE)
    held = json.loads(file.read_text())
    held["releases"] = []
    file.write_text(json.dumps(held))
    with pytest.raises(MisfeatError, match=r"b\.json.*damaged or was altered"):
        Ledger(file).add(ONE)


@pytest.mark.parametrize(
    "contents",
    [
        {"budget": None},
        {"budget": None, "releases": [{"site": "north"}]},
        {"budget": -1, "releases": []},
        {"budget": None, "releases": [{**vars(ONE), "rho": -1.0}]},
        {"budget": None, "releases": [{**vars(ONE), "rho": "0"}]},
    ],
)
def test_a_record_of_something_else_is_refused(tmp_path, contents):
    from misfeat.sites.sealing import sealed, write_document

    file = tmp_path / "b.json"
    write_document(file, sealed("misfeat budget", contents))
    with pytest.raises(MisfeatError):
        Ledger(file).releases()


def test_a_signed_record_goes_on_with_its_key_only(tmp_path):
    pytest.importorskip("cryptography")
    for name in ("one.key", "other.key"):
        make_key(tmp_path / name)
    one, other = (read_key(tmp_path / name) for name in ("one.key", "other.key"))
    Ledger(tmp_path / "b.json", key=one).add(ONE)
    Ledger(tmp_path / "b.json", key=one).add(ONE)
    for key in (other, None):
        with pytest.raises(MisfeatError, match="signed with another key"):
            Ledger(tmp_path / "b.json", key=key).add(ONE)


def test_the_record_is_beside_the_table_or_the_key(tmp_path):
    (tmp_path / "a").mkdir()
    table, key = tmp_path / "a" / "t.csv", tmp_path / "site.key"
    table.write_text("x\n")
    key.write_text("k")
    assert ledger_beside(str(table)) == (tmp_path / "a" / "misfeat-budget.json").resolve()
    found = ledger_beside("postgresql://somewhere", str(key))
    assert found == (tmp_path / "misfeat-budget.json").resolve()
    with pytest.raises(MisfeatError, match="ledger"):
        ledger_beside("postgresql://somewhere")
