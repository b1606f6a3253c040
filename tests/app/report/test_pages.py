"""A template gets text and both sets of colours; markup in a value stays text."""

import pytest
from jinja2 import UndefinedError

from flopwitness.app.report.pages import filled


def test_a_template_that_wants_more_than_it_gets_is_an_error():
    """A missing value would be a hole in evidence, not a blank."""
    with pytest.raises(UndefinedError):
        filled("redteam.html.j2")
