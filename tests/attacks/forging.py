"""Ways to change a saved selection: every field, every array, headers, bytes, whole files."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import load, save

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Change:
    """A changed selection, what was done to it, and whether checksums were made anew."""

    files: Files
    what: str
    forged: bool


def sealed(manifest: dict[str, Any], arrays: bytes) -> Files:
    """Files with checksums as misfeat makes them."""
    manifest["arrays"] = hashlib.sha256(arrays).hexdigest()
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True).encode()
    manifest["checksum"] = hashlib.sha256(text).hexdigest()
    return Files(json.dumps(manifest, indent=1).encode(), arrays)


def changed(rng: random.Random, files: Files, other: Files) -> Change:
    """A random change of one selection; another one lends whole files."""
    ways: list[Callable[[], Change]] = [
        *[lambda: _field(rng, files)] * 4,
        *[lambda: _array(rng, files)] * 4,
        lambda: _header(rng, files),
        lambda: _bytes(rng, files, other),
    ]
    made = rng.choice(ways)()
    while made.files == files:  # a value that was there before
        made = rng.choice(ways)()
    return made


def _places(held: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything within a value."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(held, dict):
        pairs = list(held.items())
    elif isinstance(held, list):
        pairs = list(enumerate(held))
    return [way for key, value in pairs for way in ((*path, key), *_places(value, (*path, key)))]


def _field(rng: random.Random, files: Files) -> Change:
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
    return Change(sealed(manifest, files.arrays), what, forged=True)


def _array(rng: random.Random, files: Files) -> Change:
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
    return Change(sealed(json.loads(files.manifest), packed), f"{deed} {name}", forged=True)


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


def _header(rng: random.Random, files: Files) -> Change:
    """Change the header of the arrays' file: types, shapes, offsets, its length."""
    length = int.from_bytes(files.arrays[:8], "little")
    header, body = json.loads(files.arrays[8 : 8 + length]), files.arrays[8 + length :]
    name = rng.choice(sorted(header))
    numbers = [0, 1, -1, 8, len(body), len(body) + 1, 2**32, 2**63, 2**64 - 1]
    deed = rng.choice(["dtype", "shape", "data_offsets", "length", "text", "metadata"])
    what = f"header: {deed} of {name}"
    if deed == "dtype":
        header[name][deed] = rng.choice(["F64", "F32", "I8", "BOOL", "BF16", "F8_E4M3", "X", None])
    elif deed == "metadata":
        header["__metadata__"] = rng.choice([{"x": "y"}, {"x": 1}, [], "x"])
    elif deed in ("shape", "data_offsets"):
        header[name][deed] = [rng.choice(numbers) for _ in range(rng.randint(0, 3))]
    text = json.dumps(header).encode()
    if deed == "text":
        text = rng.choice([b"", b"{", b"[]", b"null", b"\xff" * 10, text[:-1], text + b"x"])
    told = rng.choice(numbers[5:]) if deed == "length" else len(text)
    packed = (told % 2**64).to_bytes(8, "little") + text + body
    return Change(sealed(json.loads(files.manifest), packed), what, forged=True)


def _bytes(rng: random.Random, files: Files, other: Files) -> Change:
    """Flip, cut, lengthen or swap a file, and leave the checksums as they are."""
    name = rng.choice([MANIFEST, ARRAYS])
    whole = files.manifest if name == MANIFEST else files.arrays
    deed = rng.choice(["flip", "flip", "flip", "cut", "longer", "swap", "blank"])
    if deed == "flip":
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        new = bytes(damaged)
    elif deed == "cut":
        new = whole[: rng.randrange(len(whole))]
    elif deed == "longer":
        new = whole + rng.randbytes(rng.randint(1, 20))
    elif deed == "swap":
        new = other.manifest if name == MANIFEST else other.arrays
    else:
        start = rng.randrange(len(whole))
        new = whole[:start] + bytes(min(512, len(whole) - start)) + whole[start + 512 :]
    left = Files(new, files.arrays) if name == MANIFEST else Files(files.manifest, new)
    return Change(left, f"{deed} {name}", forged=False)
