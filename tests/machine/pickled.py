"""A joblib backend that pickles tasks and results as a cluster does, and may lose its workers."""

from __future__ import annotations

import pickle
from concurrent.futures import Future

from joblib.parallel import ParallelBackendBase


class PickledBackend(ParallelBackendBase):
    """Carries tasks out here, from what was pickled of them."""

    supports_retrieve_callback = True
    default_n_jobs = 2
    deaths = 0
    """So many tasks more are lost with their workers."""
    sent = started = stopped = 0

    def configure(self, *values, **settings):
        type(self).started += 1
        return super().configure(*values, **settings)

    def terminate(self):
        type(self).stopped += 1

    def effective_n_jobs(self, n_jobs):
        return 2

    def submit(self, func, callback=None):
        kind, future = type(self), Future()
        kind.sent += 1
        if kind.deaths:
            kind.deaths -= 1
            future.set_exception(ConnectionError("the worker is gone"))
        else:
            found = pickle.loads(pickle.dumps(func))()  # noqa: S301
            future.set_result(pickle.loads(pickle.dumps(found)))  # noqa: S301
        callback(future)
        return future

    apply_async = submit  # as joblib calls it before 1.5

    def retrieve_result_callback(self, out):
        return out.result()

    def get_nested_backend(self):
        return PickledBackend(), None  # within a task it stays the active one, as Dask's does

    def __reduce__(self):
        return PickledBackend, ()
