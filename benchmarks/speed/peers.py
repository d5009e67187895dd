"""Seconds of a whole run beside those of peers, on the same tables and cores.

    MISFEAT_DATA=... python -m benchmarks.speed.peers [heart] [waves] [voters] [adult] >> peers.txt

A whole run of misfeat answers for every subgroup, with tests, validation, stability where it is
usual, and a report. Peers get the pooled table once, coded as small integers, and choose five
features; they run as their documentation begins, on all cores where they can. Each has `LIMIT`
seconds. Run it twice: the first time compiles kernels.
Needs skrub and what benchmarks/field/requirements.txt names beside misfeat.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from benchmarks.speed.first_minute import TABLES

LIMIT = 600
SIZE = 5
MORE = {"adult": ("adult.csv.gz", "--target", "income", "--by", "race")}
IMPUTE = "X = X.fillna(X.median())"
PEERS = {
    "skrub TableReport": "from skrub import TableReport; TableReport(table).html()",
    "mutual_info_classif": f"""
from sklearn.feature_selection import mutual_info_classif
{IMPUTE}
mutual_info_classif(X, y, discrete_features=True)""",
    "sequential selection": f"""
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
{IMPUTE}
SequentialFeatureSelector(
    LogisticRegression(max_iter=1000), n_features_to_select={SIZE}, n_jobs=-1
).fit(X, y)""",
    "Boruta": f"""
from boruta import BorutaPy
from sklearn.ensemble import RandomForestClassifier
{IMPUTE}
forest = RandomForestClassifier(n_jobs=-1, max_depth=5)
BorutaPy(forest, n_estimators="auto", random_state=0).fit(X.to_numpy(), y)""",
    "miceforest and SelectKBest": f"""
import miceforest
from sklearn.feature_selection import SelectKBest, mutual_info_classif
kernel = miceforest.ImputationKernel(X.reset_index(drop=True), random_state=0)
kernel.mice(3)
SelectKBest(mutual_info_classif, k={SIZE}).fit(kernel.complete_data(), y)""",
}


def program(file: Path, target: str, peer: str) -> str:
    """A program that reads a table as peers take it, and runs one of them."""
    return f"""
import pandas as pd
table = pd.read_csv({str(file)!r}).dropna(subset=[{target!r}])
X = table.drop(columns={target!r}).apply(
    lambda c: c if c.dtype.kind in "if" else c.astype("category").cat.codes.where(c.notna())
)
y = table[{target!r}].astype("category").cat.codes.to_numpy()
{PEERS[peer]}
"""


def seconds(*command: str) -> float | None:
    """Seconds that a program takes; None where it takes longer than it may, or fails."""
    begun = time.perf_counter()
    try:
        subprocess.run(
            [sys.executable, "-W", "ignore", *command],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT,
        )
    except subprocess.SubprocessError:
        return None
    return time.perf_counter() - begun


def main() -> None:
    """Print a line a table and program: seconds, and how many times those of misfeat."""
    data, tables = Path(os.environ["MISFEAT_DATA"]), TABLES | MORE
    print("table | program | seconds | times misfeat")
    for name in sys.argv[1:] or tables:
        file, *options = tables[name]
        with tempfile.TemporaryDirectory() as folder:
            own = ("-m", "misfeat", "run", str(data / file), *options, "--quiet")
            ours = seconds(*own, "--out", str(Path(folder) / "run"))
            rows = len(pd.read_csv(data / file))
        if ours is None:
            raise SystemExit(f"misfeat run of {name} did not end.")
        print(f"{name} ({rows:,} rows) | misfeat run | {ours:.1f} |", flush=True)
        for peer in PEERS:
            taken = seconds("-c", program(data / file, options[1], peer))
            words = (
                ("did not end", "") if taken is None else (f"{taken:.1f}", f"{taken / ours:.1f}")
            )
            print(f"{name} | {peer} | {words[0]} | {words[1]}", flush=True)


if __name__ == "__main__":
    main()
