"""The exporter's list of fields: everything that we read, and nothing under a wrong type."""

from deploy.dashboards import PROMETHEUS
from flopwitness.core.channels import CANONICAL, Kind
from flopwitness.telemetry.samplers.dcgm_fields import BY_NAME, FIELDS

CODES = {"DCGM_FI_DEV_XID_ERRORS"}
"""Asked for beside the channels of our table: an error's code is an event."""


def rows() -> dict[str, tuple[str, str]]:
    """Return type and help of each field, read as the exporter reads them: three cells a line."""
    lines = (PROMETHEUS / "dcgm-exporter-counters.csv").read_text().splitlines()
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip() and line[0] != "#"]
    assert {len(row) for row in cells} == {3}
    return {name: (kind, words) for name, kind, words in cells}


def test_every_field_that_we_read_is_asked_for():
    """The default list hides half of them."""
    asked = {BY_NAME[name].number for name in rows() if name in BY_NAME}

    assert asked == {field.number for field in FIELDS}


def test_nothing_else_is_asked_for():
    """Each field costs a scrape; the ambiguous one of NVLink is left out."""
    assert set(rows()) - set(BY_NAME) == CODES


def test_types_are_those_of_our_table():
    """A rate that is called a counter would be differentiated once more by everybody who reads it."""
    for name, (kind, words) in rows().items():
        channel = BY_NAME[name].channel if name in BY_NAME else "xid_code"
        is_counter = CANONICAL[channel].kind is Kind.COUNTER
        assert (name, kind) == (name, "counter" if is_counter else "gauge")
        assert words.endswith(".")
