from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import misfeat.completion
from misfeat import MisfeatError, SubgroupSelector
from misfeat.completion import BaseCompleter, TransferCompleter
from misfeat.completion.named import (
    COMPLETERS,
    HOMES,
    completer_classes,
    completer_names,
    completer_of,
)
from tests.completion.coded import known_of, random_cohorts


def test_every_name_stands_for_a_completer_that_the_package_exports():
    assert len(COMPLETERS) == len(completer_names()) == len(set(completer_classes()))
    for name, kind in COMPLETERS.items():
        assert issubclass(kind, BaseCompleter)
        assert isinstance(completer_of(name), kind)
        assert getattr(misfeat.completion, kind.__name__) is kind
    assert set(misfeat.completion.__all__) == set(dir(misfeat.completion))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = misfeat.completion.Nothing


def test_listing_the_names_imports_nothing_heavy():
    code = (
        "import sys; from misfeat.completion.named import completer_names; completer_names();"
        "print([m for m in ('numpy', 'sklearn', 'numba', 'torch', 'scipy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


def test_a_new_completer_takes_one_line_here(monkeypatch):
    monkeypatch.setitem(HOMES, "nothing", "tests.completion.nothing:NothingCompleter")
    assert "nothing" in completer_names()
    kind = misfeat.completion.NothingCompleter
    assert isinstance(completer_of("nothing", confidence=0.5), kind)
    known = known_of(random_cohorts(1), 2)
    completed = completer_of("nothing").complete(known, 2)
    assert np.array_equal(completed.score, known.exact.bounds(2)[0])


def test_what_is_no_completer_is_refused():
    for wrong in ("magic", "gain", "iterative", TransferCompleter, 3, None):
        with pytest.raises(MisfeatError, match="is unknown; use 'auto', 'transfer'"):
            completer_of(wrong)


def test_an_instance_is_copied_and_left_as_it_is():
    given = TransferCompleter(rounds=3)
    copied = completer_of(given, confidence=0.5, random_state=4)
    assert copied is not given
    assert (copied.confidence, copied.random_state, copied.rounds) == (0.5, 4, 3)
    assert (given.confidence, given.random_state) == ("inherit", "inherit")


def test_a_completer_of_ones_own_needs_three_methods_and_no_settings():
    class Own:
        reach = memory_needed = complete = max

    assert isinstance(completer_of(Own(), confidence=0.5), Own)


@pytest.mark.parametrize(("own", "used"), [(0.9, 0.9), (None, None), ("inherit", 0.5)])
def test_the_selector_gives_its_confidence_only_where_it_was_left_open(own, used):
    rng = np.random.default_rng(0)
    columns = {f"f{i}": rng.integers(3, size=200).astype(float) for i in range(4)}
    columns["y"], columns["site"] = rng.integers(2, size=200), np.arange(200) % 2
    columns["f0"][columns["site"] == 0] = np.nan
    selector = SubgroupSelector(
        "site", size=1, completer=TransferCompleter(confidence=own), confidence=0.5
    ).fit(columns, "y")
    assert selector.completer_.confidence == used
    assert selector.completer.confidence == own
