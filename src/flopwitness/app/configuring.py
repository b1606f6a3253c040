"""One TOML file for all options: where it is looked for, what it may hold, and what is in force.

A command line beats the file, the file beats the defaults. Secrets are named by path, never written there.
"""

import json
import os
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from flopwitness.app.configuring_table import OPTIONS, Kind, Option, Value
from flopwitness.core.errors import BadInputError
from flopwitness.storage.atomic import read_bytes
from flopwitness.storage.documents import SHOWN_CHARACTERS

MAX_PORT = 65_535
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class InForce:
    """An option with the value that holds, and who said so.

    Attributes
    ----------
    option : Option
        Which.
    value : str, float, bool or None
        None where it is off.
    source : str
        ``"default"``, or the file.
    """

    option: Option
    value: Value | None
    source: str


def read_config(path: Path) -> Mapping[str, Value]:
    """Read a configuration; a path in it is relative to the file's own folder.

    Returns
    -------
    mapping of str to str, float or bool
        What the file sets, by the name of the option.

    Raises
    ------
    BadInputError
        Naming file and key: no TOML, a key that no option has, a value of another type or out of range, or
        a secret that every user of the machine can read.
    """
    try:
        content = tomllib.loads(read_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        raise BadInputError(str(path), "", expected="TOML", got=str(error)) from error
    return MappingProxyType({name: _checked(path, name, value) for name, value in content.items()})


def in_force(path: Path | None) -> tuple[InForce, ...]:
    """Return every option with its value; errors of ``read_config``."""
    held = read_config(path) if path else {}
    return tuple(
        InForce(option, held.get(name, option.default), str(path) if name in held else DEFAULT)
        for name, option in OPTIONS.items()
    )


def settings_of(path: Path, command: str) -> dict[str, Value]:
    """Return what a file sets for one command; the whole file is checked all the same."""
    held = read_config(path)
    return {name: value for name, value in held.items() if command in OPTIONS[name].commands}


def example_config() -> str:
    """Return a file that sets nothing and explains every option."""
    head = (
        "# Configuration of flopwitness, TOML. Every line is commented out: it shows the default,",
        "# or an example where there is none. A command line beats this file.",
    )
    return "\n".join([*head, *map(_explained, OPTIONS.values())]) + "\n"


def refuse_open_secret(path: Path, where: str = "") -> None:
    """Raise ``BadInputError`` where everybody can read or change a file; one that is not there passes."""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116  follows links, as reading does
    except OSError:
        return
    if mode & stat.S_IRWXO:
        got = f"mode {mode:04o}; take it back with 'chmod o-rwx', and replace the secret"
        raise BadInputError(str(path), where, expected="a secret that others cannot read or change", got=got)


def _explained(option: Option) -> str:
    of = f" in {option.unit}" if option.unit else ""
    kind = option.expected if option.kind is Kind.CHOICE else f"{option.kind.value}{of}"
    state = "no default" if option.default is None else f"default {_toml(option.default)}"
    state += "".join(f", {_toml(value)} for {name}" for name, value in option.other_defaults)
    shown = option.example if option.default is None else option.default
    read_by = ", ".join(option.commands)
    return f"\n# {option.summary}\n# {kind}; {state}; read by {read_by}\n# {option.name} = {_toml(shown)}"


def _toml(value: Value) -> str:
    """Return a value as TOML writes it; its texts and numbers are those of JSON."""
    return json.dumps(value, ensure_ascii=False)


def _checked(path: Path, name: str, value: object) -> Value:
    where = f"key {name!r}"
    option = OPTIONS.get(name)
    if option is None:
        near = get_close_matches(name, OPTIONS, n=1)
        expected = f"an option such as {near[0]!r}" if near else f"one of {', '.join(OPTIONS)}"
        raise BadInputError(str(path), where, expected=expected, got="a key that no option has")
    if not _fits(option, value):
        raise BadInputError(str(path), where, expected=option.expected, got=repr(value)[:SHOWN_CHARACTERS])
    if option.kind in {Kind.PATH, Kind.SECRET}:
        place = path.resolve().parent / str(value)
        if option.kind is Kind.SECRET:
            refuse_open_secret(place, f"{where} of {path}")
        return str(place)
    return float(value) if option.kind is Kind.NUMBER else value  # type: ignore[arg-type, return-value]


def _fits(option: Option, value: object) -> bool:
    if option.kind is Kind.FLAG:
        return isinstance(value, bool)
    if option.kind is Kind.NUMBER:
        return _is_number(value, option)
    return isinstance(value, str) and TEXT_RULES.get(option.kind, _is_text)(value, option)


def _is_number(value: object, option: Option) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return False
    return value > option.least if option.is_above else value >= option.least


def _is_text(value: str, _: Option) -> bool:
    return bool(value.strip()) and "\0" not in value


def _is_choice(value: str, option: Option) -> bool:
    return value in option.choices


def _is_address(value: str, _: Option) -> bool:
    host, colon, port = value.rpartition(":")
    return bool(host and colon) and port.isascii() and port.isdigit() and int(port) <= MAX_PORT


def _is_url(value: str, _: Option) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


TEXT_RULES: Mapping[Kind, Callable[[str, Option], bool]] = MappingProxyType(
    {Kind.CHOICE: _is_choice, Kind.ADDRESS: _is_address, Kind.URL: _is_url}
)
"""What a text of each kind has to be; any other is merely not empty."""
