"""Ways to change a saved selection: every field, every array, headers, bytes, whole files."""

import copy
import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

MANIFEST, ARRAYS = "selection.json", "arrays.safetensors"


def _nested(depth: int) -> Any:
    held: Any = []
    for _ in range(depth):
        held = [held]
    return held


VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 3, 127, 2**31, 2**63, 10**30, -(2**70), 0.5, -0.5, 1.5, 1e308,
    {"float": "nan"}, {"float": "inf"}, {"float": "x"}, "", "x", "../x", "\ud800", "*",
    "é\n\x1b[31m", "9" * 5000, [], {}, [[]], {"tuple": []}, {"tuple": [1]}, {"tuple": ["x"]},
    {"dict": []}, {"dict": [["x", 1]]}, {"dict": [[[1], 1]]}, {"date": "2020-13-45"},
    {"datetime": "never"}, {"os.system": "x"}, "gain", "transfer", "sample", "population", "r2",
    "os", [1, 2, 3], _nested(50), _nested(400),
]  # fmt: skip
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"]
EXTREMES = [-2, -1, 0, 1, 2, 3, 5, 100, 127, 255, 32767, 65535, 2**31 - 1, 2**40, 2**62, -(2**62)]


@dataclass(frozen=True)
class Files:
    """The two files of a selection."""

    manifest: bytes
    arrays: bytes


def sealed(manifest: dict[str, Any], arrays: bytes) -> Files:
    """Files with checksums as misfeat makes them."""
    manifest["arrays"] = hashlib.sha256(arrays).hexdigest()
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True).encode()
    manifest["checksum"] = hashlib.sha256(text).hexdigest()
    return Files(json.dumps(manifest, indent=1).encode(), arrays)


def changed(rng: random.Random, files: Files) -> tuple[Files, str]:
    """A random change of a selection with right checksums, and what was changed."""
    while True:
        made, what = rng.choice((_field, _array))(rng, files)
        if made != files:  # else a value that was there before
            return made, what


def _places(held: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything within a value."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(held, dict):
        pairs = list(held.items())
    elif isinstance(held, list):
        pairs = list(enumerate(held))
    return [way for key, value in pairs for way in ((*path, key), *_places(value, (*path, key)))]


def _field(rng: random.Random, files: Files) -> tuple[Files, str]:
    """Put another value into a field of the manifest, or take it out."""
    manifest = json.loads(files.manifest)
    # By branch first: there are far more labels than settings.
    first = rng.choice([name for name in manifest if name not in ("arrays", "checksum")])
    path = rng.choice([(first,), *_places(manifest[first], (first,))])
    within = manifest
    for key in path[:-1]:
        within = within[key]
    deed = rng.choice(["set", "set", "set", "set", "drop", "twice", "swap", "add"])
    last = path[-1]
    what = f"{deed} {'.'.join(map(str, path))}"
    if deed == "drop":
        del within[last]
    elif deed == "twice" and isinstance(within, list):
        within.insert(last, copy.deepcopy(within[last]))
    elif deed == "swap" and isinstance(within, list):
        rng.shuffle(within)
    elif deed == "add" and isinstance(within, dict):
        within["further"] = rng.choice(VALUES)
    else:
        within[last] = rng.choice(VALUES)
        what += f" = {str(within[last])[:60]!r}"
    return sealed(manifest, files.arrays), what


def _array(rng: random.Random, files: Files) -> tuple[Files, str]:
    """Change one array, or which arrays there are."""
    arrays = {name: array.copy() for name, array in load(files.arrays).items()}
    name = rng.choice(sorted(arrays))
    deed = rng.choice(["values"] * 5 + ["type", "shape", "shape", "drop", "rename", "swap", "raw"])
    if deed == "values":
        arrays[name] = _other_values(rng, arrays[name])
    elif deed == "type":
        with np.errstate(all="ignore"):
            arrays[name] = arrays[name].astype(rng.choice(DTYPES))
    elif deed == "raw":
        raw = rng.randbytes(arrays[name].nbytes)
        arrays[name] = np.frombuffer(raw, arrays[name].dtype).reshape(arrays[name].shape)
    elif deed == "shape":
        arrays[name] = _other_shape(rng, arrays[name])
    elif deed == "drop":
        del arrays[name]
    elif deed == "rename":
        arrays[rng.choice([f"{name}.x", "x", "cohorts.names", "asked.size", ""])] = arrays.pop(name)
    else:
        other = rng.choice(sorted(arrays))
        arrays[name], arrays[other] = arrays[other], arrays[name]
    packed = save({key: np.ascontiguousarray(array) for key, array in arrays.items()})
    return sealed(json.loads(files.manifest), packed), f"{deed} {name}"


def _other_values(rng: random.Random, array: NDArray[Any]) -> NDArray[Any]:
    found = array.copy()
    if not found.size:
        return found
    flat = found.reshape(-1)
    some = rng.sample(range(flat.size), rng.choice([1, 1, min(3, flat.size), flat.size]))
    deed = rng.choice(["set", "set", "scale", "shuffle", "sort", "add"])
    with np.errstate(all="ignore"):
        if deed == "shuffle":
            flat[:] = flat[rng.sample(range(flat.size), flat.size)]
        elif deed == "sort":
            flat.sort()
        elif found.dtype == bool:
            flat[some] = ~flat[some]
        elif found.dtype.kind == "f":
            odd = [np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0, 1e-300, 0.3]
            new = {"set": rng.choice(odd), "scale": flat[some] * 1.001, "add": flat[some] + 0.01}
            flat[some] = new[deed]
        else:
            value = np.array(rng.choice(EXTREMES)).astype(found.dtype)
            new = {"set": value, "scale": flat[some] * 2, "add": flat[some] + 1}
            flat[some] = new[deed]
    return found


def _other_shape(rng: random.Random, array: NDArray[Any]) -> NDArray[Any]:
    ways: list[Callable[[], NDArray[Any]]] = [
        lambda: array.T,
        lambda: array.reshape(-1),
        lambda: array[None],
        lambda: array[:-1],
        lambda: array[..., :-1],
        lambda: array[:0],
        lambda: np.concatenate([array, array]),
        lambda: np.concatenate([array, array], axis=-1),
        lambda: array.reshape(-1)[:1].reshape(()) if array.size else array,
    ]
    return rng.choice(ways)()
