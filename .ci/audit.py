"""Whether the environment holds what the locks say, and files still have the hashes in them.

    make audit

Four looks, each told in a line: every installed package has its locked version (torch the one in
constraints.txt), no package lacks what it needs, every file of the locks is fetched once more and
held against its hashes, and pip-audit looks for known vulnerabilities where it is installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
OURS = {"misfeat", "pip"}
"""This project, and what comes with Python."""
FROM_TORCH = re.compile(r"nvidia-.*|cuda-.*|triton")
"""What torch brings along where its wheel is one for a device."""
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s\\]+)", re.MULTILINE)


def pins(file: Path) -> dict[str, str]:
    """The versions of a lock or a constraints file, by normalised name."""
    found = PIN.findall(file.read_text(encoding="utf-8"))
    return {canonicalize_name(name): version for name, version in found}


def locked_versions(root: Path) -> dict[str, str]:
    """The versions of all locks, and of torch."""
    locked = {"torch": pins(root / "constraints.txt")["torch"]}
    for file in sorted((root / "locks").glob("*.txt")):
        locked |= pins(file)
    return locked


def differences(installed: dict[str, str], locked: dict[str, str]) -> list[str]:
    """What is installed at another version than the locked one, or without being locked."""
    told = []
    for name, version in sorted(installed.items()):
        if name in OURS or FROM_TORCH.fullmatch(name):
            continue
        if name not in locked:
            told.append(f"{name} {version} is installed but in no lock")
        elif Version(version).public != Version(locked[name]).public:
            told.append(f"{name} {version} is installed, the lock says {locked[name]}")
    return told


def installed_versions() -> dict[str, str]:
    """The versions in this environment, by normalised name."""
    return {canonicalize_name(one.metadata["Name"]): one.version for one in distributions()}


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603


def unmet_needs() -> list[str]:
    """What packages lack."""
    told = _pip("check")
    return told.stdout.splitlines() if told.returncode else []


def wrong_files(locks: list[str]) -> list[str]:
    """What pip says where a file that it fetches has none of its hashes."""
    with tempfile.TemporaryDirectory() as folder:
        files = [word for lock in locks for word in ("--requirement", f"{ROOT}/locks/{lock}.txt")]
        told = _pip("download", "--quiet", "--no-deps", "--require-hashes", "--no-cache-dir",
                    "--dest", folder, *files)  # fmt: skip
    return [line for line in told.stderr.splitlines() if "WARNING" not in line and told.returncode]


def vulnerabilities(locks: list[str]) -> list[str] | None:
    """What pip-audit finds; None where it is not installed or cannot reach its database."""
    tool = shutil.which("pip-audit")
    if tool is None:
        return None
    files = [word for lock in locks for word in ("--requirement", f"{ROOT}/locks/{lock}.txt")]
    command = [tool, "--disable-pip", "--require-hashes", "--progress-spinner", "off", *files]
    told = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if told.returncode == 0:
        return []
    return told.stdout.splitlines() or None


def main() -> None:
    """Look, tell, and exit with 1 where something differs."""
    environment = Path(sys.prefix)
    locks = [
        file.stem
        for file in sorted((ROOT / "locks").glob("*.txt"))
        if (environment / f".{file.stem}").exists()
    ]
    found = {
        "installed packages have their locked versions": differences(
            installed_versions(), locked_versions(ROOT)
        ),
        "installed packages have what they need": unmet_needs(),
        f"files have their hashes ({', '.join(locks)})": wrong_files(locks),
    }
    for what, wrong in found.items():
        print(f"{'FAILED' if wrong else 'ok'}: {what}", *wrong, sep="\n  ")
    known = vulnerabilities(locks)
    if known is None:
        print("not looked for: known vulnerabilities; pip-audit is not here or has no connection")
    else:
        print(f"{'FAILED' if known else 'ok'}: no known vulnerabilities", *known, sep="\n  ")
    if known or any(found.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
