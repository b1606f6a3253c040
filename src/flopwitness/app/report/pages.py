"""Fills a template of this folder, in both sets of colours; what it is given is text, never markup."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from flopwitness.app.report.palette import DARK, LIGHT, css_variables


def filled(template: str, **values: object) -> str:
    """Return a page of HTML from a template and its values.

    Parameters
    ----------
    template : str
        Name of a file in ``templates``.
    **values : object
        What it speaks of; a value that it wants and does not get is an error.
    """
    environment = Environment(
        loader=PackageLoader("flopwitness.app.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template(template)
    return page.render(**values, light=css_variables(LIGHT), dark=css_variables(DARK))
