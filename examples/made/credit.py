"""A credit table as it comes: 60 columns, most of them text, four of which drive who defaults."""

from __future__ import annotations

import numpy as np
import pandas as pd

DRIVERS = ("annual_income", "interest_rate", "opened", "city")
CHANNELS = {"branch": 0.4, "online": 0.3, "broker": 0.2, "partner": 0.08, "phone": 0.02}
CITIES, EMPLOYERS = 150, 900
YES_OR_NO = (("yes", "no"), ("Y", "N"), ("t", "f"))
WORDS = ("paid", "late", "called", "customer", "moved", "card", "debt", "repair", "reply", "since")


def credit_table(rows: int = 20_000, seed: int = 0) -> pd.DataFrame:
    """Loans of five channels, with the share of defaults driven by `DRIVERS` alone."""
    rng = np.random.default_rng(seed)
    channel = rng.choice(list(CHANNELS), rows, p=list(CHANNELS.values()))
    income = rng.lognormal(10.8, 0.6, rows).round()
    rate = rng.normal(12, 4, rows).clip(2, 30).round(1)
    opened = _dates(rng, rows)
    city = _skewed(rng, rows, CITIES)
    city_risk = rng.normal(0, 1.1, CITIES)
    odds = (
        -1.6
        - 1.3 * (np.log(income) - 10.8) / 0.6
        + 0.9 * (rate - 12) / 4
        + 1.0 * np.sin((opened - opened.min()).days / 365)
        + city_risk[city]
    )
    columns = {
        "loan_id": np.arange(rows) + 1_000_000,
        "application": [f"A-{number:08d}" for number in rng.permutation(rows)],
        "channel": channel,
        "annual_income": _money(income),
        "interest_rate": _per_cent(rate),
        "opened": opened.strftime("%d/%m/%Y %H:%M"),
        "city": [f"City {number}" for number in city],
        **_noise(rng, rows, channel),
        "defaulted": np.where(rng.random(rows) < 1 / (1 + np.exp(-odds)), "yes", "no"),
    }
    return pd.DataFrame(columns)


def _noise(rng: np.random.Generator, rows: int, channel: np.ndarray) -> dict[str, object]:
    """Uninformative columns, written in every way."""
    columns: dict[str, object] = {
        "employer": [f"Employer {number}" for number in _skewed(rng, rows, EMPLOYERS)],
        "remarks": [" ".join(rng.choice(WORDS, 8)) for _ in range(rows)],
        "zip": [
            f"{number:05d}" for number in rng.integers(501, 99_950, 300)[_skewed(rng, rows, 300)]
        ],
        "term": rng.choice([" 36 months", " 60 months"], rows),
        "employed_for": rng.choice(
            ["< 1 year", *(f"{n} years" for n in range(2, 10)), "10+ years", "n/a"], rows
        ),
        "issued": _dates(rng, rows).strftime("%b-%Y"),
        "first_contact": _dates(rng, rows).strftime("%Y-%m-%d"),
        "last_payment": _dates(rng, rows).strftime("%d %b %Y"),
        "called_at": _dates(rng, rows).strftime("%I:%M %p"),
        "country": "US",
        "profit": [f"({-v:,.0f})" if v < 0 else f"{v:,.0f}" for v in rng.normal(0, 9000, rows)],
        "height": [f"{v:.0f} cm" for v in rng.normal(172, 9, rows)],
        "grade": pd.Categorical(rng.choice(list("ABCDEFG"), rows), list("GFEDCBA"), ordered=True),
        "months_since_late": np.where(rng.random(rows) < 0.5, -9, rng.integers(0, 84, rows)),
        "dependants": np.where(rng.random(rows) < 0.02, 99, rng.integers(0, 5, rows)),
        "bureau_score": np.where(channel == "partner", np.nan, rng.normal(680, 50, rows).round()),
        "salary_slip": np.where(channel == "online", None, rng.choice(["y", "n"], rows)),
        "purpose": rng.choice(["car", "home", "debt", "other"], rows),
    }
    for number in range(8):
        columns[f"balance_{number}"] = _money(rng.lognormal(8, 1, rows).round(2), 2)
    for number in range(7):
        columns[f"share_{number}"] = _per_cent(rng.random(rows).round(3) * 100)
    for number in range(6):
        columns[f"amount_{number}"] = _decimal_comma(rng.lognormal(7, 1, rows).round(2))
    for number in range(6):
        columns[f"flag_{number}"] = rng.choice(
            [("yes", "no"), ("Y", "N"), ("t", "f")][number % 3], rows
        )
    for number in range(5):
        columns[f"count_{number}"] = rng.poisson(4, rows)
    for number in range(2):
        columns[f"ratio_{number}"] = rng.normal(0, 1, rows)
    return columns


def _dates(rng: np.random.Generator, rows: int) -> pd.DatetimeIndex:
    minutes = rng.integers(0, 5 * 365 * 24 * 60, rows)
    return pd.DatetimeIndex(pd.Timestamp("2015-01-01") + pd.to_timedelta(minutes, unit="min"))


def _skewed(rng: np.random.Generator, rows: int, values: int) -> np.ndarray:
    return rng.choice(values, rows, p=rng.dirichlet(np.full(values, 2.0)))


def _money(amounts: np.ndarray, digits: int = 0) -> list[str]:
    return [f"${amount:,.{digits}f}" for amount in amounts]


def _per_cent(shares: np.ndarray) -> list[str]:
    return [f"{share:.1f}%" for share in shares]


def _decimal_comma(amounts: np.ndarray) -> list[str]:
    return [f"{amount:_.2f}".replace(".", ",").replace("_", ".") for amount in amounts]
