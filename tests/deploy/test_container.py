"""The container file, line by line: what it copies is there, what it runs exists, and it runs as nobody."""

import json
import re
import shlex
import tomllib

from deploy.command_lines import parsed
from source_tree import ROOT

FILE = ROOT / "deploy" / "container" / "Containerfile"
EXTRAS = re.compile(r"\.\[([a-z,]+)\]")


def instructions() -> list[tuple[str, str]]:
    """Return instructions and their arguments, in order, without comments."""
    lines = [line for line in FILE.read_text().splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in joined.splitlines()]


def arguments_of(name: str) -> list[str]:
    """Return the arguments of each instruction of a name."""
    return [rest for found, rest in instructions() if found == name]


def test_everything_that_is_copied_is_there():
    """From the repository, which is the build's folder."""
    sources = [
        source
        for rest in arguments_of("COPY")
        if not rest.startswith("--from")
        for source in shlex.split(rest)[:-1]
    ]

    assert "src" in sources
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_what_the_package_is_built_of_is_copied():
    """Its readme and its licence too: the build refuses to go on without them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    copied = " ".join(arguments_of("COPY"))

    assert all(name in copied for name in (project["readme"], *project["license-files"], "pyproject.toml"))


def test_packages_are_pinned_and_their_extras_exist():
    """Exactly those that this project is tested with."""
    (install,) = [rest for rest in arguments_of("RUN") if "pip install" in rest]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    match = EXTRAS.search(install)

    assert "-c requirements/constraints.txt" in install
    assert match is not None
    assert set(match[1].split(",")) <= set(extras)


def test_it_runs_as_nobody():
    """The last word on users is a number that is not root's; nothing is installed after it."""
    names = [name for name, _ in instructions()]

    assert arguments_of("USER") == ["65532:65532"]
    assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])


def test_its_command_line_is_one_of_ours():
    """What it writes lies in its volume; beyond loopback it needs a token."""
    entry, command = json.loads(arguments_of("ENTRYPOINT")[0]), json.loads(arguments_of("CMD")[0])
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]

    found = parsed(command)

    assert entry[0] in scripts
    assert str(found["journal"]).startswith(arguments_of("VOLUME")[0])
    assert found["token_file"] is not None


def test_its_health_is_asked_where_it_listens():
    """Without a token, in Python that compiles."""
    (check,) = arguments_of("HEALTHCHECK")
    program, flag, code = json.loads(check[check.index("[") :])
    listen = parsed(json.loads(arguments_of("CMD")[0]))["listen"]

    compile(code, "HEALTHCHECK", "exec")
    assert (program, flag) == ("python", "-c")
    assert f":{str(listen).rpartition(':')[2]}/healthz" in code
    assert arguments_of("EXPOSE") == [str(listen).rpartition(":")[2]]


def test_nothing_is_written_outside_its_volume():
    """So its root may be read-only: Python keeps no caches."""
    environment = " ".join(arguments_of("ENV"))

    assert "PYTHONDONTWRITEBYTECODE=1" in environment
    assert "NVIDIA_DRIVER_CAPABILITIES=utility" in environment
