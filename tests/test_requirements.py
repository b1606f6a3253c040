"""The pinned versions say the same as pyproject.toml: what is tested is pinned, and floors are floors."""

import re
import tomllib

from source_tree import ROOT

REQUIREMENT = re.compile(r"([A-Za-z0-9_-]+)>=([0-9.]+)(?:,<([0-9.]+))?")
PIN = re.compile(r"([a-z0-9_-]+)==([0-9][0-9a-z.]*)")


def test_pins_hold_exact_versions_and_nothing_else():
    """No hashes, hosts, options or local paths: a line is a comment, empty or ``name==version``."""
    for name in ("constraints.txt", "constraints-oldest.txt", "constraints-lab.txt"):
        lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()

        strange = [line for line in lines if line and not line.startswith("# ") and not PIN.fullmatch(line)]

        assert strange == [], name


def test_every_dependency_is_pinned_inside_its_range():
    """What CI tests is what pyproject.toml allows."""
    found = pins("constraints.txt") | pins("constraints-lab.txt")
    allowed = ranges("dependencies", "ledger", "research", "serve", "telemetry", "nvml", "docs", "dev", "lab")

    assert sorted(set(allowed) - set(found)) == []
    for name, (least, below) in allowed.items():
        assert least <= found[name] < below, name


def test_the_oldest_versions_are_the_floors():
    """A floor that is not tested is a guess."""
    oldest = pins("constraints-oldest.txt")
    allowed = ranges("dependencies", "ledger", "research", "nvml")
    floors = {name: least for name, (least, _) in allowed.items()}

    assert {name: oldest[name][: len(least)] for name, least in floors.items()} == floors
    assert all(not any(oldest[name][len(least) :]) for name, least in floors.items())


def test_test_tools_are_the_same_with_the_oldest_versions():
    """Only what users run is old there; a failure then speaks of a floor."""
    newest, oldest = pins("constraints.txt"), pins("constraints-oldest.txt")
    tools = sorted(set(oldest) - set(ranges("dependencies", "ledger", "research", "nvml")))

    assert tools == ["hypothesis", "pytest", "pytest-xdist"]
    assert {name: oldest[name] for name in tools} == {name: newest[name] for name in tools}


def pins(name: str) -> dict[str, tuple[int, ...]]:
    """Return the pinned version of each package of a constraints file."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    return {package: version(number) for package, number in PIN.findall(text)}


def ranges(*groups: str) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the least and the first forbidden version of each package that some groups ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {"dependencies": project["dependencies"], **project["optional-dependencies"]}
    matches = [REQUIREMENT.fullmatch(line) for group in groups for line in wanted[group]]
    return {match[1]: (version(match[2]), version(match[3] or "9999")) for match in matches if match}


def version(text: str) -> tuple[int, ...]:
    """Return a version as numbers that compare."""
    return tuple(int(part) for part in re.findall(r"\d+", text))
