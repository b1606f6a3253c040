"""The dashboard is one that Grafana takes and everybody can read."""

import re

import pytest

from deploy.dashboards import dashboard, panels

OKABE_ITO = {
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#000000",
    "#7F7F7F",
}
"""Colours that people with any colour vision tell apart (Okabe and Ito, Color Universal Design), and grey."""

SCALES = {"continuous-BlYlRd"}
"""Scales from blue over yellow to red: they differ in lightness, too."""

TITLES = [panel["title"] for panel in panels()]


def colours(content: object) -> set[str]:
    """Return every colour that is named somewhere in a dashboard."""
    if isinstance(content, dict):
        own = {
            value
            for key, value in content.items()
            if key in {"color", "fixedColor"} and isinstance(value, str)
        }
        return own.union(*map(colours, content.values()))
    return set().union(*map(colours, content)) if isinstance(content, list) else set()


def test_it_can_be_imported_as_it_is():
    """What Grafana's importer asks for is there, and no number of an instance that it came from."""
    found = dashboard()

    assert {"uid", "title", "schemaVersion", "panels", "templating", "time", "tags"} <= set(found)
    assert "id" not in found
    assert len({panel["id"] for panel in found["panels"]}) == len(found["panels"])


def test_the_data_source_is_a_choice():
    """Nobody else's Prometheus has our identifier."""
    variables = {variable["name"]: variable for variable in dashboard()["templating"]["list"]}

    sources = [panel["datasource"] for panel in panels()]
    sources += [target["datasource"] for panel in panels() for target in panel["targets"]]
    assert variables["datasource"]["type"] == "datasource"
    assert all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources)


def test_every_variable_that_is_used_is_declared():
    """A variable that is not there makes a panel empty, in silence."""
    declared = {variable["name"] for variable in dashboard()["templating"]["list"]}
    text = " ".join(target["expr"] for panel in panels() for target in panel["targets"])

    assert set(re.findall(r"\$\{?(\w+)", text)) - {"__rate_interval"} <= declared


@pytest.mark.parametrize("title", TITLES)
def test_every_panel_says_what_it_shows_and_in_which_unit(title: str):
    """A number without a unit is no measurement."""
    panel = next(panel for panel in panels() if panel["title"] == title)

    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert panel["targets"]


def test_titles_differ():
    """Two panels of one name cannot be told apart in a screen reader's list."""
    assert len(set(TITLES)) == len(TITLES)


def test_panels_lie_side_by_side():
    """None covers another or leaves the grid of 24 columns."""
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_colours_can_be_told_apart_by_everybody():
    """Fixed ones are of one palette, the rest of a scale that differs in lightness."""
    modes = {panel["fieldConfig"]["defaults"].get("color", {}).get("mode") for panel in panels()}

    assert colours(panels()) <= OKABE_ITO
    assert modes - {None, "fixed", "thresholds"} <= SCALES


def test_the_total_stands_on_a_log_scale():
    """Thresholds lie a factor of ten apart."""
    panel = next(panel for panel in panels() if panel["title"] == "Cumulative FLOP")

    assert panel["fieldConfig"]["defaults"]["custom"]["scaleDistribution"] == {"type": "log", "log": 10}
