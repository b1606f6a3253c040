"""``flopwitness formats``: the file formats that can be read."""

from flopwitness.app.cli.options import AsJson
from flopwitness.app.cli.output import print_json, print_table
from flopwitness.telemetry.readers.known import FORMATS


def run(json: AsJson = False) -> int:
    """List the file formats that can be read; each is recognised by its content."""
    if json:
        print_json(
            [{"name": form.name, "title": form.title, "has_samples": bool(form.parse)} for form in FORMATS]
        )
    else:
        rows = [(form.name, form.title, "samples" if form.parse else "figures") for form in FORMATS]
        print_table("Formats", ("name", "what", "gives"), rows)
    return 0
