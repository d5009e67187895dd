"""The four hospitals of heart.csv as four sites that share counts."""

import numpy as np
import pytest

from misfeat.datasets import load_heart
from misfeat.sites import agree, propose, summarise

TARGET = "num"


def tables_by_site():
    heart = load_heart()
    site = np.asarray(heart.columns["site"])
    columns = {name: np.asarray(held) for name, held in heart.columns.items() if name != "site"}
    return {
        str(one): {name: held[site == one] for name, held in columns.items()}
        for one in np.unique(site)
    }


def exact_summaries(tables, codebook):
    """What every site shares by a codebook where nothing is rounded."""
    settings = {"share": "tables3", "min_cell": 1}
    return [summarise(table, codebook, site, **settings) for site, table in tables.items()]


@pytest.fixture(scope="session")
def hospitals():
    return tables_by_site()


@pytest.fixture(scope="session")
def codebook(hospitals):
    return agree([propose(table, TARGET, site) for site, table in hospitals.items()])[0]


@pytest.fixture(scope="session")
def summaries(hospitals, codebook):
    return exact_summaries(hospitals, codebook)
