"""Addresses of tables: which text is one, and what of it may be shown and saved."""

import re
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

DATABASES = ("postgresql", "postgres")
AZURE = ("az", "azure", "abfss")
STORES = ("s3", "gs", "gcs", "r2", "http", "https", "hf", *AZURE)  # DuckDB reads Parquet from these
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+")
_SHOWN = ("table", "host", "port", "user", "sslmode")


def scheme_of(text: str) -> str | None:
    """What stands before ``://``, in lower case; None of a text that is not an address."""
    scheme, apart, _ = text.partition("://")
    scheme = scheme.strip().lower()
    return scheme if apart and _SCHEME.fullmatch(scheme) else None


def is_address(text: str) -> bool:
    """Whether a text is the address of a table rather than a path."""
    return scheme_of(text) in (*DATABASES, *STORES)


def without_secrets(text: str) -> str:
    """An address as it may be shown and saved; any other text as it is."""
    scheme = scheme_of(text)
    if scheme is None:
        return text
    start, apart, rest = text.partition("://")
    before, at, behind = rest.rpartition("@")
    if scheme in DATABASES and ":" in before:
        # Its password may look like any other part of an address.
        text = f"{start}{apart}{before.partition(':')[0]}{at}{behind}"
    elif not is_address(text):
        return f"{start}{apart}{behind.partition('?')[0].partition('#')[0]}"
    try:
        parts = urlsplit(text)
    except ValueError:
        return f"{start}://..."
    user, at, host = parts.netloc.rpartition("@")
    if scheme in STORES:
        return SplitResult(parts.scheme, host, parts.path, "", "").geturl()
    query = urlencode([(k, v) for k, v in parse_qsl(parts.query) if k in _SHOWN], safe="./")
    netloc = f"{user.partition(':')[0]}{at}{host}"
    return SplitResult(parts.scheme, netloc, parts.path, query, "").geturl()
