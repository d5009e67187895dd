"""Fixtures that several folders of tests share."""

import os
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests.browsers.fixtures import browser, keep_picture, open_page  # noqa: F401

# Not a test, and its import of PyTorch Geometric takes seconds, which only tests that need it pay.
collect_ignore = ["completion/pyg_twin.py"]

# No test depends on how fast the machine is: examples may take their time, and no line tells how
# far along something is, unless a test asks for it (`with_progress`).
# Properties are tried on the same cases in every run, so that a change is what fails and not a
# draw; `--hypothesis-profile=anew` draws others.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("anew", UNHURRIED)
settings.register_profile("same", UNHURRIED, derandomize=True, database=None)
settings.load_profile("same")
os.environ["MISFEAT_PROGRESS"] = "off"

# A shell that starts something in the background has it ignore Ctrl-C, which tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Small models train as fast on one thread, and many times faster where cores are shared, since
# OpenMP's threads wait for each other busily. Read when torch and scikit-learn are first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, in every test the same."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real tables that the project does not ship."""
    folder = os.environ.get("MISFEAT_DATA")
    if not folder:
        pytest.skip("MISFEAT_DATA is not set; docs/reference/data.md says how to get the tables")
    return Path(folder)


@pytest.fixture
def with_progress(monkeypatch) -> None:
    """Show progress as users see it."""
    monkeypatch.delenv("MISFEAT_PROGRESS")


def few_resamples_drawn():
    """Nearly all the time of a small report goes into resamples; few do where files matter."""
    from misfeat.answers.stability import stability_of

    with pytest.MonkeyPatch.context() as patch:
        few = partial(stability_of, resamples=2)
        patch.setattr("misfeat.show.report.data.stability_of", few)
        yield


few_resamples = pytest.fixture(few_resamples_drawn)
few_resamples_in_module = pytest.fixture(few_resamples_drawn, scope="module")


@pytest.fixture
def stand_in_folder(tmp_path, monkeypatch) -> Path:
    """A folder of small generated tables with the columns of the real ones."""
    from tests.stand_ins import write_stand_ins

    write_stand_ins(tmp_path)
    monkeypatch.setenv("MISFEAT_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="session")
def heart_path() -> Path:
    """The heart table, which the package holds."""
    from misfeat.datasets import heart_csv

    return heart_csv()
