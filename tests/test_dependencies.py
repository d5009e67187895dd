"""Dependencies are pinned, have a reason, and are tried at their lower bounds."""

import runpy
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST = runpy.run_path(str(ROOT / ".ci" / "oldest.py"))
AUDIT = runpy.run_path(str(ROOT / ".ci" / "audit.py"))
LOCKS = sorted((ROOT / "locks").glob("*.txt"))
PINS = OLDEST["pins"]((ROOT / "constraints.txt").read_text(encoding="utf-8"))


def asked() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"].values()
    texts = [*PROJECT["dependencies"], *(text for extra in extras for text in extra)]
    return [one for one in map(Requirement, texts) if one.name != "misfeat"]


def test_every_dependency_is_pinned_in_its_range_and_has_its_reason():
    reasons = (ROOT / "docs" / "reference" / "dependencies.md").read_text(encoding="utf-8")
    for requirement in asked():
        assert requirement.specifier.contains(PINS[canonicalize_name(requirement.name)])
        assert requirement.name in reasons


def test_the_oldest_versions_are_the_lower_bounds():
    bounds = OLDEST["lower_bounds"](PROJECT)
    assert {canonicalize_name(Requirement(one).name) for one in PROJECT["dependencies"]} <= set(
        bounds
    )
    assert bounds["numpy"] == "2.1"
    assert not {"torch", "misfeat", "ruff"} & set(bounds)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda file: file.stem)
def test_a_lock_holds_the_pinned_versions_each_with_hashes(lock):
    versions = AUDIT["pins"](lock)
    assert versions
    assert {name: PINS[name] for name in versions} == versions
    assert "torch" not in versions
    entries = lock.read_text(encoding="utf-8").split("==")[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


def locked_for(extra: str) -> set[str]:
    text = (ROOT / "locks" / f"{extra}.txt").read_text(encoding="utf-8")
    names = set(AUDIT["pins"](ROOT / "locks" / f"{extra}.txt"))
    if text.splitlines()[1].startswith("-r "):
        names |= locked_for(text.splitlines()[1].removeprefix("-r ").removesuffix(".txt"))
    return names


def needed_by(extra: str) -> set[str]:
    found = set()
    for one in map(Requirement, PROJECT["optional-dependencies"][extra]):
        within = [needed_by(inner) for inner in one.extras] if one.name == "misfeat" else []
        found |= set().union(*within) or {canonicalize_name(one.name)}
    return found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda file: file.stem)
def test_a_lock_holds_everything_that_its_extra_asks_for(lock):
    always = {canonicalize_name(Requirement(one).name) for one in PROJECT["dependencies"]}
    assert (always | needed_by(lock.stem) | {"hatchling"}) - {"torch"} <= locked_for(lock.stem)


def test_what_is_installed_beside_the_locks_is_told():
    locked = AUDIT["locked_versions"](ROOT)
    assert AUDIT["differences"]({**locked, "torch": f"{locked['torch']}+cpu"}, locked) == []
    assert AUDIT["differences"]({"numpy": "1.0", "leftpad": "3"}, locked) == [
        "leftpad 3 is installed but in no lock",
        f"numpy 1.0 is installed, the lock says {locked['numpy']}",
    ]
