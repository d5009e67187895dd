"""The threads of linear algebra."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_LIMITING, _n_limiting = Lock(), 0
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep linear algebra from starting threads of its own, which cost more than they save."""
    # Matrices here have some hundred columns. The first to enter sets the limit for the process,
    # the last to leave takes it back.
    global _n_limiting, _limit
    from threadpoolctl import threadpool_limits

    with _LIMITING:
        if not _n_limiting:
            _limit = threadpool_limits(1, "blas")
        _n_limiting += 1
    try:
        yield
    finally:
        with _LIMITING:
            _n_limiting -= 1
            if not _n_limiting:
                _limit.restore_original_limits()
