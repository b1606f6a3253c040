"""What imports cannot show: budgets, pure rooms, docstrings and who tests what. Read from the tree itself."""

import ast
import tomllib
from pathlib import Path

import flopwitness
from flopwitness.app.cli.main import COMMANDS, GROUPS
from source_tree import (
    PACKAGE,
    PURE_ROOMS,
    ROOT,
    TESTS,
    called_name,
    functions,
    imported_modules,
    length_without_docstring,
    module_name,
    parsed,
    public_definitions,
    python_files,
    shown,
)
from tested_elsewhere import TESTED_ELSEWHERE

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
MAX_ROOT_NAMES = 12

SOURCES = python_files(PACKAGE)
ALL_CODE = python_files(PACKAGE, TESTS, ROOT / "benchmarks")
PURE = python_files(*(PACKAGE / room for room in PURE_ROOMS))

WORLD_CALLS = frozenset({"open", "print", "input", "breakpoint", "exec", "eval"})
CLOCK_ENDINGS = (".now", ".utcnow", ".today", ".open")
CHANCE_ENDINGS = (".default_rng", ".RandomState", ".SeedSequence", "random.seed")


def test_no_file_is_longer_than_a_reader_can_hold():
    """A file has at most 300 lines; a longer one holds two ideas."""
    lengths = {shown(path): len(path.read_text(encoding="utf-8").splitlines()) for path in ALL_CODE}

    assert {name: length for name, length in lengths.items() if length > MAX_FILE_LINES} == {}


def test_no_function_is_longer_than_a_screen():
    """A function has at most 40 lines without its docstring."""
    too_long = {
        shown(path, function.lineno): function.name
        for path in ALL_CODE
        for function in functions(path)
        if length_without_docstring(function) > MAX_FUNCTION_LINES
    }

    assert too_long == {}


def test_pure_rooms_neither_print_nor_open_nor_ask_clocks_or_chance():
    """The world, time and chance are arguments there: same arguments, same answer."""
    offenders = [
        f"{shown(path, call.lineno)} calls {name}"
        for path in PURE
        for call in ast.walk(parsed(path))
        if isinstance(call, ast.Call)
        and (
            (name := called_name(call)) in WORLD_CALLS
            or name.endswith((*CLOCK_ENDINGS, *CHANCE_ENDINGS))
            or name.startswith("time.")
        )
    ]

    assert offenders == []


def test_nobody_inside_imports_the_package_root():
    """The root is for users; inside, a noun is imported from where it lives, or cycles follow."""
    offenders = [shown(path) for path in SOURCES if "flopwitness" in imported_modules(path)]

    assert offenders == []


def test_package_files_hold_a_docstring_only():
    """Importing a room runs nothing; only the root collects names."""
    offenders = [
        shown(path)
        for path in SOURCES
        if path.name == "__init__.py"
        and path.parent != PACKAGE
        and (len(parsed(path).body) != 1 or ast.get_docstring(parsed(path)) is None)
    ]

    assert offenders == []


def test_the_root_offers_few_names():
    """At most 12 nouns, sorted, each of them there."""
    names = flopwitness.__all__

    assert len(names) <= MAX_ROOT_NAMES
    assert names == sorted(names)
    assert [name for name in names if not hasattr(flopwitness, name)] == []


def test_every_public_object_has_a_docstring():
    """A name says what; the docstring says unit, range, source and what is left out."""
    undocumented = [
        f"{shown(path, node.lineno)} {node.name}"
        for path in SOURCES
        for node in public_definitions(parsed(path).body)
        if ast.get_docstring(node) is None
    ]
    silent = [shown(path) for path in SOURCES if ast.get_docstring(parsed(path)) is None]

    assert undocumented == []
    assert silent == []


def test_every_test_states_its_rule():
    """Test names and docstrings, read in a row, are the specification."""
    silent = [
        f"{shown(path, function.lineno)} {function.name}"
        for path in python_files(TESTS)
        for function in functions(path)
        if function.name.startswith("test_") and ast.get_docstring(function) is None
    ]

    assert silent == []


def test_every_module_has_a_test_module():
    """Tests mirror the package; what is tested elsewhere is listed, with the place."""
    untested = {name for name, path in modules().items() if not own_test(path).exists()}

    assert sorted(untested - set(TESTED_ELSEWHERE)) == []


def test_the_list_of_modules_tested_elsewhere_is_honest():
    """Each entry is a module without a test of its own, and the named file leads to it by imports."""
    known = modules()
    stale = [name for name in TESTED_ELSEWHERE if name not in known or own_test(known[name]).exists()]
    unproved = [name for name, test in TESTED_ELSEWHERE.items() if name not in reached_from(TESTS / test)]

    assert stale == []
    assert unproved == []


def test_the_import_contract_lists_every_room():
    """A room that is in no layer could be imported by anybody."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = next(contract for contract in contracts if contract["type"] == "layers")
    listed = sorted(room.strip() for layer in layered["layers"] for room in layer.split("|"))
    rooms = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))

    assert listed == rooms
    assert layered["exhaustive"] is True


def test_the_import_contract_guards_every_pure_room():
    """Pure rooms here and in the contract are the same rooms."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    pure = next(contract for contract in contracts if contract["name"].startswith("Pure rooms"))

    assert sorted(pure["source_modules"]) == sorted(
        "flopwitness." + room.replace("/", ".") for room in PURE_ROOMS
    )


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name without the package's, such as ``core.trace``."""
    return {
        module_name(path).removeprefix("flopwitness."): path for path in SOURCES if path.name != "__init__.py"
    }


def own_test(path: Path) -> Path:
    """Return where the test module of a module belongs."""
    return TESTS / path.relative_to(PACKAGE).with_name(f"test_{path.name}")


def reached_from(test: Path) -> set[str]:
    """Return the modules that a test imports, directly or through others of the package.

    The command line imports each command when it is named.
    """
    known = modules()
    commands = {f"app.cli.{name}" for name in (*COMMANDS, *GROUPS)}
    found: set[str] = set()
    waiting = [test]
    while waiting:
        names = {name.removeprefix("flopwitness.") for name in imported_modules(waiting.pop())}
        if "app.cli.main" in names:
            names |= commands
        new = (names & set(known)) - found
        found |= new
        waiting += [known[name] for name in new]
    return found
