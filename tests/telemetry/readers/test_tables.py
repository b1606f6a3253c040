"""Delimited text: columns by name, a bad row costs itself."""

from hypothesis import given
from hypothesis import strategies as st

from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.tables import Layout, tables

NAMES = ("a", "b")


def _read(data: bytes, layout: Layout, block_bytes: int = 10**6) -> tuple[list[tuple[int, ...]], Context]:
    context = Context(Input("memory", Input.of_bytes(data).opener, block_bytes))
    rows = []
    for table in tables(context, layout):
        columns = [table.columns[name].to_pylist() for name in NAMES]
        rows += list(zip(table.lines.tolist(), *columns, strict=True))
    return rows, context


@given(
    cells=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
    block=st.integers(4, 99),
)
def test_every_row_keeps_its_line_however_the_file_is_cut(cells: list[tuple[int, int]], block: int):
    """Rows and their numbers do not depend on the size of blocks."""
    data = b"a,b\n" + b"".join(f"{a},{b}\n".encode() for a, b in cells)

    rows, _ = _read(data, Layout(NAMES, NAMES), block)

    assert rows == [(line, str(a), str(b)) for line, (a, b) in enumerate(cells, 2)]


def test_a_row_of_another_width_costs_itself_and_shifts_no_number():
    """It is counted with its line; those behind it keep theirs."""
    rows, context = _read(b"a,b\n1,2\n3\n4,5,6\n7,8\n", Layout(NAMES, NAMES))

    assert rows == [(2, "1", "2"), (5, "7", "8")]
    (found,) = context.notes.findings()
    assert (found.code, "2 rows" in found.message, "line 3" in found.message) == ("bad-row", True, True)


def test_the_last_cell_of_a_file_that_was_cut_is_given_up():
    """``1`` may have been ``1234``."""
    rows, context = _read(b"a,b\n1,2\n3,4", Layout(NAMES, NAMES))

    assert rows == [(2, "1", "2"), (3, "3", "")]
    assert context.notes.n("truncated") == 1


def test_quoted_cells_may_hold_separators_and_doubled_quotes():
    """As spreadsheets and Prometheus dumps write them."""
    rows, _ = _read(b'a,b\n"1,5","x ""y"""\n', Layout(NAMES, NAMES, is_quoted=True))

    assert rows == [(2, "1,5", 'x "y"')]


def test_a_quote_without_an_end_swallows_no_row_silently():
    """What it takes with it is counted."""
    layout = Layout(NAMES, NAMES, is_quoted=True, may_break_lines=True)

    rows, context = _read(b'a,b\n1,2\n"3,4\n5,6\n', layout)

    assert rows == [(2, "1", "2")]
    assert context.notes.n("bad-row") == 1
