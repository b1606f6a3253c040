"""One file for all options: each is in the table, and what does not fit is one line with file and key."""

import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwitness.app.cli import record, serve, watch
from flopwitness.app.configuring import (
    DEFAULT,
    example_config,
    in_force,
    read_config,
    refuse_open_secret,
    settings_of,
)
from flopwitness.app.configuring_table import OPTIONS
from flopwitness.core.errors import BadInputError

COMMANDS: dict[str, Callable[..., int]] = {"watch": watch.run, "serve": serve.run, "record": record.run}
NOT_IN_A_FILE = {"config", "open_"}
"""Where the file is cannot stand in the file; and a browser is opened by whoever sits there."""


def written(folder: Path, text: str) -> Path:
    """Return a file with this text."""
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def uncommented(text: str) -> str:
    """Return the lines of the example that set something, as a user would uncomment them."""
    lines = [line.removeprefix("# ") for line in text.splitlines() if " = " in line]
    return "\n".join(line for line in lines if line.split(" = ")[0] in OPTIONS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_in_the_table_with_its_default(command: str):
    """Under the same name, read by that command; and the table knows of none that the command lacks."""
    parameters = inspect.signature(COMMANDS[command]).parameters.values()
    options = {one.name: one.default for one in parameters if one.name not in NOT_IN_A_FILE}

    table = {name: option for name, option in OPTIONS.items() if command in option.commands}

    assert set(table) == set(options)
    for name, option in table.items():
        default = options[name]
        given = None if default is inspect.Parameter.empty else getattr(default, "value", default)
        assert option.default_for(command) == given


@pytest.mark.parametrize("command", COMMANDS)
def test_a_choice_can_be_what_the_command_takes(command: str):
    """No value more, none less."""
    hints = inspect.get_annotations(COMMANDS[command])

    for name, option in OPTIONS.items():
        if command in option.commands and option.choices:
            assert option.choices == tuple(one.value for one in get_args(hints[name])[0])


def test_the_example_sets_nothing(tmp_path: Path):
    """It explains every option, and all stay at their defaults."""
    path = written(tmp_path, example_config())

    assert [(one.value, one.source) for one in in_force(path)] == [
        (option.default, DEFAULT) for option in OPTIONS.values()
    ]
    assert all(f"\n# {name} = " in example_config() for name in OPTIONS)


def test_the_example_uncommented_is_the_defaults(tmp_path: Path):
    """What stands there is the default; where an option is off by default, a value that fits."""
    found = read_config(written(tmp_path, uncommented(example_config())))

    assert set(found) == set(OPTIONS)
    for name, option in OPTIONS.items():
        if option.default is not None:
            assert found[name] == option.default


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("intervall = 0.1", "key 'intervall': expected an option such as 'interval', got a key that no"),
        ("password = 'x'", "key 'password': expected one of interval, detector"),
        ("interval = '0.1'", "key 'interval': expected a number above 0 (seconds), got '0.1'"),
        ("interval = 0", "key 'interval': expected a number above 0 (seconds), got 0"),
        ("interval = true", "key 'interval': expected a number above 0 (seconds), got True"),
        ("interval = nan", "key 'interval': expected a number above 0 (seconds), got nan"),
        ("speed = -1", "key 'speed': expected a number of at least 0 (times real time), got -1"),
        ("detector = 'best'", "expected one of 'activity', 'experiment', got 'best'"),
        ("once = 1", "key 'once': expected true or false, got 1"),
        ("listen = '127.0.0.1'", "key 'listen': expected a text such as '127.0.0.1:9464'"),
        ("listen = ':99999'", "key 'listen': expected a text such as '127.0.0.1:9464'"),
        ("otlp = 'localhost:4318'", "key 'otlp': expected a text such as 'http://localhost:4318'"),
        ("journal = ''", "key 'journal': expected the path of a file or folder, a text, got ''"),
        ("journal = [", "expected TOML"),
    ],
)
def test_what_does_not_fit_is_one_line_with_file_and_key(tmp_path: Path, line: str, words: str):
    """A misspelt key is not passed over, and no value is bent until it fits."""
    path = written(tmp_path, line)

    with pytest.raises(BadInputError) as refused:
        read_config(path)

    assert str(refused.value).startswith(str(path))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path):
    """It is never taken for an empty one."""
    with pytest.raises(BadInputError, match="expected a file that can be read, got no such file"):
        read_config(tmp_path / "none.toml")


def test_paths_are_relative_to_the_file(tmp_path: Path):
    """A daemon's own folder is ``/``; an absolute path stays."""
    found = read_config(written(tmp_path, "journal = 'a/j.jsonl'\nrecord = '/b'"))

    assert found == {"journal": str(tmp_path / "a/j.jsonl"), "record": "/b"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_file(command: str):
    """By the same option."""
    assert "config" in inspect.signature(COMMANDS[command]).parameters


def test_a_command_is_given_its_own_options_alone(tmp_path: Path):
    """One file serves them all."""
    path = written(tmp_path, "interval = 1\nonce = true\nduration = 5")

    assert settings_of(path, "watch") == {"interval": 1.0, "once": True}
    assert settings_of(path, "record") == {"interval": 1.0, "duration": 5.0}


@pytest.mark.parametrize("name", ["token_file", "ledger_key"])
def test_a_secret_that_everybody_can_read_is_refused(tmp_path: Path, name: str):
    """It is named by its path, its own content is never repeated."""
    secret = tmp_path / "secret"
    secret.write_text("tell-nobody", encoding="utf-8")
    path = written(tmp_path, f"{name} = 'secret'")

    secret.chmod(0o604)
    with pytest.raises(BadInputError, match="mode 0604") as refused:
        read_config(path)
    secret.chmod(0o600)

    assert "tell-nobody" not in str(refused.value)
    assert read_config(path) == {name: str(secret)}


def test_a_secret_that_is_not_there_is_left_to_who_needs_it(tmp_path: Path):
    """``flopwitness config`` may run as a user who cannot see the folder."""
    refuse_open_secret(tmp_path / "none")


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*OPTIONS, "x"]),
        st.one_of(st.booleans(), st.integers(-5, 5), st.floats(), st.text(max_size=8)),
        max_size=3,
    )
)
def test_whatever_a_file_holds_it_is_used_or_refused(content: dict[str, object]):
    """No value of a wrong type comes through, and nothing but ``BadInputError`` comes out."""
    import json  # noqa: PLC0415  for its texts alone
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    text = "".join(
        f"{name} = {json.dumps(value) if not isinstance(value, float) else str(value)}\n"
        for name, value in content.items()
    )
    with TemporaryDirectory() as folder:
        path = written(Path(folder), text)
        try:
            found = read_config(path)
        except BadInputError:
            return

    assert set(found) == set(content)
    assert all(type(value) in {str, float, bool} for value in found.values())
    assert tomllib.loads(text).keys() == found.keys()
