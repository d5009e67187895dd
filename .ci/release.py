"""A release, up to the upload: built, checked, installed in clean environments and tried out.

    python .ci/release.py [--python python3.11 --python python3.12 ...]

Builds the source distribution and the wheel into dist/, checks both, and installs the wheel with
the newest and with the oldest dependencies on every Python that is given, or found among those that
are supported; `misfeat demo` has to answer there. What the environment with the newest versions
holds is written as dist/sbom.json (CycloneDX). Needs what locks/release.txt holds (`make release`).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
MOST_BYTES = 1_000_000
"""Of a wheel, its bundled tables aside."""
BUNDLED = "misfeat/datasets/data/"
TORCH = "torch"


def run(*command: str | Path, **options: object) -> str:
    """What a command prints; its own words end the release where it fails."""
    done = subprocess.run(  # noqa: S603
        [str(part) for part in command], cwd=ROOT, text=True, stdout=subprocess.PIPE, **options
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nThe release stops: {' '.join(map(str, command))} failed.")
    return done.stdout


def supported() -> list[str]:
    """The Python versions that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def runs(python: str) -> bool:
    """Whether a Python is here and starts."""
    if shutil.which(python) is None:
        return False
    return subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode == 0  # noqa: S603


def built() -> Path:
    """The wheel, after the source distribution that it is built from."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST)
    (wheel,) = DIST.glob("*.whl")
    return wheel


def check(wheel: Path) -> None:
    """Stop where the files are not what an index or a user expects."""
    run(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    run(Path(sys.executable).with_name("check-wheel-contents"), wheel)
    if not wheel.name.endswith("-py3-none-any.whl"):
        sys.exit(f"{wheel.name} is not pure Python.")
    with zipfile.ZipFile(wheel) as packed:
        members = packed.infolist()
    whole = wheel.stat().st_size
    size = whole - sum(one.compress_size for one in members if one.filename.startswith(BUNDLED))
    print(f"{wheel.name}: {size:,} bytes without its tables, {whole:,} with them")
    if size > MOST_BYTES:
        sys.exit(f"The wheel has {size:,} bytes without its tables; {MOST_BYTES:,} are allowed.")


def try_out(wheel: Path, python: str, versions: str, folder: Path) -> Path:
    """Install the wheel in a clean environment and have it answer; the environment's Python."""
    place = folder / f"{python}-{versions}"
    run(python, "-m", "venv", place)
    inside = place / "bin" / "python"
    install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    held: list[str | Path] = []
    if versions == "oldest":
        constraints = place / "oldest.txt"
        constraints.write_text(run(sys.executable, ROOT / ".ci" / "oldest.py"), encoding="utf-8")
        held = ["--constraint", constraints]
    began = time.monotonic()
    run(*install, *held, wheel)
    seconds, taken = time.monotonic() - began, size_of(place)
    run(inside, "-m", "pip", "download", "--quiet", *held, "--dest", place / "files", wheel)
    fetched = size_of(place / "files")
    if (next(place.glob(f"lib/python3*/site-packages/{TORCH}"), None)) is not None:
        sys.exit("A plain installation brings PyTorch with it.")
    began = time.monotonic()
    said = run(place / "bin" / "misfeat", "demo", "--out", place / "demo")
    if "worth" not in said:
        sys.exit(f"misfeat demo does not say what is worth recording:\n{said}")
    print(
        f"{python}, {versions} dependencies: installed in {seconds:.0f} s, {fetched / 1e6:.0f} MB "
        f"of files that take {taken / 1e6:.0f} MB on disk; the demonstration took "
        f"{time.monotonic() - began:.0f} s"
    )
    return inside


def size_of(folder: Path) -> int:
    """Bytes of all files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def write_bill(inside: Path) -> None:
    """What an installation consists of, for whoever has to know."""
    file = DIST / "sbom.json"
    tool = Path(sys.executable).with_name("cyclonedx-py")
    run(tool, "environment", inside, "--output-reproducible", "--output-file", file)
    print(f"{file.relative_to(ROOT)}: what an installation with the newest versions consists of")


def main() -> None:
    """Build, check, try out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", help="a Python to try the wheel on")
    asked = parser.parse_args().python
    found = asked or [name for name in (f"python{v}" for v in supported()) if runs(name)]
    lacking = [] if asked else [v for v in supported() if f"python{v}" not in found]
    wheel = built()
    check(wheel)
    with tempfile.TemporaryDirectory() as held:
        newest = [try_out(wheel, python, "newest", Path(held)) for python in found]
        for python in found:
            try_out(wheel, python, "oldest", Path(held))
        write_bill(newest[-1])
    if lacking:
        print(f"Not tried, because they are not here: Python {', '.join(lacking)}")
    print("Ready. A tag that is pushed has the workflow upload it: git push origin vX.Y.Z")


if __name__ == "__main__":
    main()
