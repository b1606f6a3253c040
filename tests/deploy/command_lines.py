"""Command lines that stand in files of others, read by our own command line without being run."""

from collections.abc import Sequence

from typer.main import get_command

from flopwitness.app.cli.main import application


def parsed(arguments: Sequence[str]) -> dict[str, object]:
    """Return what a command line sets, by option; it fails where the command line would refuse it."""
    group = get_command(application(arguments))
    name, *rest = arguments
    command = group.get_command(None, name)  # type: ignore[attr-defined, arg-type]
    context = command.make_context(name, list(rest))
    return dict(context.params)
