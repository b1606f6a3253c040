"""Pages of the site that are made from the code when it is built: commands, options, formats, signals, API.

Nothing here is committed as text, so none of it can be out of date.
"""

import re
from pathlib import Path
from typing import Any

import click
import typer
from mkdocs.structure.files import File, Files

import flopwitness
from flopwitness.app.cli.main import application
from flopwitness.app.configuring_table import OPTIONS
from flopwitness.core.channels import CANONICAL
from flopwitness.telemetry.readers.known import FORMATS

ROOT = Path(__file__).parents[2]
BESIDE = {"SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages that lie beside ``docs``, and what they are called on the site."""

OUTWARD = re.compile(r"\[([^\]]+)\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def on_config(config: Any) -> Any:
    """List the decisions and the pages beside ``docs`` in the navigation."""
    decisions = sorted(path.name for path in (ROOT / "docs" / "adr").glob("*.md"))
    named = [{_title(ROOT / "docs" / "adr" / name): f"adr/{name}"} for name in decisions]
    for section in config.nav:
        if "Decisions" in section:
            section["Decisions"] = named
    config.nav.append({"Project": [{_title(ROOT / name): page} for name, page in BESIDE.items()]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    pages = {
        "reference/commands.md": _commands(),
        "reference/configuration.md": _configuration(),
        "reference/files.md": _formats(),
        "reference/signals.md": _signals(),
        "reference/api.md": _api(),
        **{page: (ROOT / name).read_text(encoding="utf-8") for name, page in BESIDE.items()},
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001
    """Turn links that leave the site into links to its own pages, or into plain words."""
    here = Path(page.file.src_uri)

    def settled(found: re.Match[str]) -> str:
        text, target = found.groups()
        place, _, anchor = target.partition("#")
        path = _resolved(here, place)
        wanted = BESIDE.get(path, path.removeprefix("docs/"))
        if files.get_file_from_path(wanted) is None:
            return text
        upward = "../" * (len(here.parts) - 1)
        return f"[{text}]({upward}{wanted}{'#' + anchor if anchor else ''})"

    return OUTWARD.sub(settled, markdown)


def _resolved(page: Path, target: str) -> str:
    """Return a link's target as a path from the repository's root."""
    base = Path("/") if page.as_posix() in BESIDE.values() else Path("/docs") / page.parent
    parts: list[str] = []
    for part in (base / target).parts[1:]:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")


def _commands() -> str:
    """Return every command with its options, from what the command line itself knows."""
    whole = typer.main.get_command(application([]))
    text = ["# Commands", "", "Exit status: 0 fine, 1 inconsistent, 2 misuse, 3 inconclusive, 70 a bug.", ""]
    for name, command in sorted(_leaves(whole, "flopwitness")):
        text += _command(name, command)
    return "\n".join(text)


def _leaves(command: Any, name: str) -> list[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        return [(name, command)]
    return [leaf for word, sub in command.commands.items() for leaf in _leaves(sub, f"{name} {word}")]


def _command(name: str, command: Any) -> list[str]:
    context = click.Context(command, info_name=name)
    usage = command.get_usage(context).removeprefix("Usage: ")
    text = [f"## {name.removeprefix('flopwitness ')}", "", command.help or "", "", "```sh", usage, "```", ""]
    rows = [record for param in command.params if (record := param.get_help_record(context))]
    if rows:
        text += ["| option | what |", "|---|---|", *(f"| `{_cell(a)}` | {_cell(b)} |" for a, b in rows), ""]
    return text


def _configuration() -> str:
    text = [
        "# Configuration",
        "",
        "Made by `flopwitness config`; an example file: `flopwitness config --example`.",
        "",
    ]
    text += ["| option | type | default | what |", "|---|---|---|---|"]
    text += [
        f"| `{option.name}` | {option.kind} | `{option.default}` | {_cell(option.summary)} |"
        for option in OPTIONS.values()
    ]
    return "\n".join(text)


def _formats() -> str:
    text = ["# Files that are read", "", "Recognised by content, never by name; plain or gzip.", ""]
    text += ["| format | name | gives |", "|---|---|---|"]
    for form in FORMATS:
        gives = "samples" if form.parse else "figures about stretches"
        text.append(f"| {_cell(form.title)} | `{form.name}` | {gives} |")
    return "\n".join(text)


def _signals() -> str:
    text = ["# Signals", "", "One name, one base unit, one meaning, whatever source gave it.", ""]
    text += ["| channel | kind | meaning |", "|---|---|---|"]
    text += [f"| `{one.name}` | {one.kind} | {_cell(one.meaning)} |" for one in CANONICAL.values()]
    return "\n".join(text)


def _api() -> str:
    text = ["# Python API", "", "What `import flopwitness` offers; inside the package nobody imports it.", ""]
    for name in flopwitness.__all__:
        text += [f"::: flopwitness.{name}", ""]
    return "\n".join(text)


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")
