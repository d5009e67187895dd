"""The oldest versions that pyproject.toml allows, as a constraints file on standard output.

    python .ci/oldest.py > oldest.txt

Direct dependencies, those of the extras included that users or the tests need, are held at their
lower bounds. Everything else stays at the version in constraints.txt, so that the result does not
change from day to day. Needs the package ``packaging``.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
AS_PINNED = {"torch": "wheels are large and come per device, so that one version is tested"}
"""Direct dependencies that are held at their version in constraints.txt, and why."""
FREE = {"llvmlite": "numba asks for one version of it"}
"""Packages that are held at no version, and why."""
FOR_TOOLS = ("dev", "browser", "heavy", "docs", "release")
"""Extras of tools and engines that `make test-oldest` does not install."""


def lower_bounds(project: dict) -> dict[str, str]:
    """The lowest version of every direct dependency, by its normalised name."""
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"]]
    asked += [text for name, texts in extras.items() if name not in FOR_TOOLS for text in texts]
    bounds = {}
    for requirement in map(Requirement, asked):
        name = canonicalize_name(requirement.name)
        if name in (project["name"], *AS_PINNED):
            continue
        (bound,) = [part.version for part in requirement.specifier if part.operator == ">="]
        if bounds.setdefault(name, bound) != bound:
            raise SystemExit(
                f"pyproject.toml has two lower bounds of {name}: {bounds[name]}, {bound}"
            )
    return bounds


def pins(text: str) -> dict[str, str]:
    """The versions of a constraints file, by normalised name."""
    lines = [line.split("==") for line in text.splitlines() if "==" in line]
    return {canonicalize_name(name): version for name, version in lines}


def main() -> None:
    """Write the constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    held = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    versions = {**held, **lower_bounds(project)}
    for name, version in sorted(versions.items()):
        if name not in FREE:
            print(f"{name}=={version}")


if __name__ == "__main__":
    main()
