"""Raw samples, neither resampled nor extrapolated, the same from either API."""

import math

import numpy as np
import pytest

from emulators.prometheus_api import PretendedApi, Samples
from flopwitness.telemetry.prometheus.client import Api, PrometheusClient
from flopwitness.telemetry.prometheus.fetching import Access
from flopwitness.telemetry.prometheus.names import SIGNALS

START_MS = 1_770_091_506_100
POWER = "DCGM_FI_DEV_POWER_USAGE"


def scraped(n_samples: int = 5) -> Samples:
    """Return a GPU's power, a sample a second."""
    samples = Samples()
    for number in range(n_samples):
        value = math.nan if number == 2 else 100.0 + number
        samples.add(START_MS + 1000 * number, value, name=POWER, UUID="GPU-a")
    return samples


@pytest.mark.parametrize("api", Api)
def test_samples_are_those_of_a_half_open_stretch(api: Api):
    """One that lies on the edge of two stretches belongs to the first alone, whatever the server thinks."""
    with PretendedApi(scraped()) as server:
        client = PrometheusClient(Access(server.url), api=api)
        (series,), findings = client.samples(START_MS * 10**6, (START_MS + 3000) * 10**6)

    assert series.time_ns.tolist() == [(START_MS + ms) * 10**6 for ms in (1000, 2000, 3000)]
    np.testing.assert_array_equal(series.values, [101.0, math.nan, 103.0])
    assert findings == []


def test_a_range_of_stored_samples_is_asked_for():
    """Every name that we know, old and new; no function, no step."""
    with PretendedApi(scraped()) as server:
        client = PrometheusClient(Access(server.url), match='hostname="n1"')
        client.samples(START_MS * 10**6, (START_MS + 60_000) * 10**6)

    ((path, form),) = server.asked
    assert path == "/api/v1/query"
    assert form == {
        "query": f'{{__name__=~"{"|".join(SIGNALS)}",hostname="n1"}}[60000ms]',
        "time": "1770091566.100",
    }


def test_an_export_is_asked_for_by_its_first_and_last_millisecond():
    """There both ends belong to it."""
    with PretendedApi(scraped()) as server:
        client = PrometheusClient(Access(server.url), api=Api.VICTORIAMETRICS, names=[POWER])
        client.samples(START_MS * 10**6, (START_MS + 60_000) * 10**6)

    ((path, form),) = server.asked
    assert path == "/api/v1/export"
    assert form == {
        "match[]": f'{{__name__=~"{POWER}"}}',
        "start": "1770091506.101",
        "end": "1770091566.100",
    }
