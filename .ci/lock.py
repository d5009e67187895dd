"""Lock files: the versions of constraints.txt with the hash of every file that may be installed.

    python .ci/lock.py

writes locks/NAME.txt for each environment of the Makefile. pip says what an environment needs, the
package index that pip is set up with says the hashes. A lock begins with the lock of the smaller
environment that it extends. It covers CPython from 3.11 on Linux and macOS.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from pip._internal.models.index import PyPI  # what pip itself takes where nothing else is set

ROOT = Path(__file__).parent.parent
LOCKS = ROOT / "locks"
EXTENDS = {
    "demo": None,
    "dev": "demo",
    "browser": "dev",
    "heavy": "dev",
    "docs": "dev",
    "release": "demo",
}
"""The environments, each with the one that it extends."""
BUILD = ("hatchling", "hatch-vcs", "editables")
"""What builds misfeat itself."""
UNLOCKED = ("misfeat", "torch")
"""misfeat is this folder; the wheels of torch come per device, each with a hash of its own."""
PLATFORMS = ("any", "manylinux", "macosx")
INTERPRETERS = re.compile(r"py3\d*-none|cp31[1-9]-(cp31[1-9]|none)|cp3\d+-abi3")
"""Tags of the wheels that CPython from 3.11 takes, those of free threads aside."""
LINK = re.compile(r'<a [^>]*href="([^"]+)#sha256=([0-9a-f]{64})"[^>]*>')


def needed(extra: str) -> dict[str, str]:
    """The versions that an environment takes, by normalised name."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-"]
    command += ["--ignore-installed", "--constraint", str(ROOT / "constraints.txt")]
    told = subprocess.run(  # noqa: S603
        [*command, f"{ROOT}[{extra}]", *BUILD], stdout=subprocess.PIPE, check=True
    )
    found = [item["metadata"] for item in json.loads(told.stdout)["install"]]
    versions = {canonicalize_name(one["name"]): one["version"] for one in found}
    return {name: version for name, version in versions.items() if name not in UNLOCKED}


def index_address() -> str:
    """The package index that pip is set up with."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603
    return told.stdout.strip() or PyPI.simple_url


def hashes(index: str, name: str, version: str) -> list[str]:
    """The hashes of the wheels of a release, or of its source where it has no wheel."""
    with urllib.request.urlopen(f"{index.rstrip('/')}/{name}/", timeout=60) as answer:  # noqa: S310
        links = LINK.findall(answer.read().decode())
    files = {urllib.parse.unquote(link.rsplit("/", 1)[-1]): digest for link, digest in links}
    wheels = {digest for file, digest in files.items() if _is_wanted(file, version)}
    sources = {digest for file, digest in files.items() if _is_source(file, version)}
    if not wheels | sources:
        raise SystemExit(f"the package index has no file of {name} {version}")
    return sorted(wheels or sources)


def _is_wanted(file: str, version: str) -> bool:
    if not file.endswith(".whl"):
        return False
    try:
        _, found, _, tags = parse_wheel_filename(file)
    except ValueError:  # names from before there were rules
        return False
    return str(found) == version and any(
        INTERPRETERS.fullmatch(f"{tag.interpreter}-{tag.abi}")
        and tag.platform.startswith(PLATFORMS)
        for tag in tags
    )


def _is_source(file: str, version: str) -> bool:
    try:
        return file.endswith(".tar.gz") and str(parse_sdist_filename(file)[1]) == version
    except ValueError:
        return False


def main() -> None:
    """Write every lock."""
    index, written = index_address(), {}
    LOCKS.mkdir(exist_ok=True)
    for extra, smaller in EXTENDS.items():
        versions = needed(extra)
        lines = ["# Written by .ci/lock.py from constraints.txt; not to be edited."]
        lines += [f"-r {smaller}.txt"] if smaller else []
        inherited = written[smaller] if smaller else {}
        written[extra] = {**inherited, **versions}
        for name, version in sorted(versions.items()):
            if inherited.get(name) != version:
                lines.append(f"{name}=={version} \\")
                lines.append(
                    " \\\n".join(f"    --hash=sha256:{one}" for one in hashes(index, name, version))
                )
        (LOCKS / f"{extra}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"locks/{extra}.txt: {len(versions)} packages")


if __name__ == "__main__":
    main()
