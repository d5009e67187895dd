import pytest

from tests.cli.commands import ASKED, TABLE, done


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return str(path)


@pytest.fixture(scope="module")
def saved(few_resamples_in_module, tmp_path_factory):
    """The folder of a run with a cost and a report."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "table.csv").write_text(TABLE * 6)
    asked = (*ASKED, "--cost", "z=4", "-q", "--out", str(folder / "run"))
    done("run", str(folder / "table.csv"), *asked)
    return str(folder / "run")
