"""The tree of this project as the tests of its shape read it: files, syntax trees, rooms."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "flopwitness"
TESTS = ROOT / "tests"

PURE_ROOMS = ("core", "physics", "detect", "estimate", "verify", "evaluate", "redteam", "app/report")
"""Rooms in which the same arguments give the same answer (docs/layout.md)."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_files(*folders: Path) -> list[Path]:
    """Return the Python files under some folders, sorted."""
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def shown(path: Path, line: int = 0) -> str:
    """Return a place as a reader would look for it."""
    name = path.relative_to(ROOT).as_posix()
    return f"{name}:{line}" if line else name


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def functions(path: Path) -> Iterator[Function]:
    """Yield every function of a file, inner ones too."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, Function):
            yield node


def length_without_docstring(function: Function) -> int:
    """Return how many lines a function has, decorators and docstring left out."""
    assert function.end_lineno is not None
    total = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is None:
        return total
    assert first.end_lineno is not None
    return total - (first.end_lineno - first.lineno + 1)


def public_definitions(body: list[ast.stmt]) -> Iterator[Definition]:
    """Yield what others may use: public functions and classes, and public methods of public classes."""
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node.body)


def imported_modules(path: Path) -> set[str]:
    """Return the dotted names that a file imports; ``from a import b`` gives ``a`` and ``a.b``."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def called_name(call: ast.Call) -> str:
    """Return a call's dotted name as written, such as ``np.random.default_rng``, or an empty text."""
    return ast.unparse(call.func) if isinstance(call.func, ast.Name | ast.Attribute) else ""
