"""Devices taken for each other."""

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.blocks import blocks_of
from flopwitness.verify.consistency.fitting import fitted_state
from flopwitness.verify.consistency.identity import CODE, exchange_deviations, fit_deviations
from verify.consistency.made import UUIDS, changed, clean_recording, highest_score

NAMES = ("memory_used_bytes", "temperature_celsius", "mem_temperature_celsius")


def misfit(*traces: Trace) -> float:
    """Return the score of power against activity of both devices."""
    power = fitted_state([clean_recording(seed=seed) for seed in (101, 102)]).power
    return highest_score(fit_deviations(tuple(blocks_of(trace) for trace in traces), UUIDS, power), CODE)


def test_power_under_the_other_device_is_found():
    """It follows the other's activity."""
    one, two = clean_recording(seed=5, together=False).traces
    energy = "energy_joules_total"

    assert misfit(one, two) < 1
    assert misfit(changed(one, **{energy: two[energy]}), changed(two, **{energy: one[energy]})) > 1


def test_slow_channels_that_change_places_are_found():
    """Memory in use and temperatures do not jump to another device's."""
    one, two = (
        changed(
            trace,
            temperature_celsius=np.full(900, 40.0 + 20 * number),
            mem_temperature_celsius=np.full(900, 45.0 + 20 * number),
        )
        for number, trace in enumerate(clean_recording().traces)
    )
    later = np.arange(900) >= 500
    swapped = [
        changed(mine, **{name: np.where(later, other[name], mine[name]) for name in NAMES})
        for mine, other in ((one, two), (two, one))
    ]

    assert highest_score(exchange_deviations((one, two)), CODE) < 1
    assert highest_score(exchange_deviations(tuple(swapped)), CODE) > 1


def test_work_that_is_handed_over_is_no_exchange():
    """Memory is freed on one device and taken on the other; temperatures follow slowly."""
    one, two = clean_recording().traces
    later = np.arange(900) >= 500
    one = changed(one, memory_used_bytes=np.where(later, 1e9, 4e10))
    two = changed(two, memory_used_bytes=np.where(later, 4e10, 1e9))

    assert highest_score(exchange_deviations((one, two)), CODE) < 1


def test_devices_exchanged_since_before_the_first_sample_are_found():
    """The last sample that was kept shows whose memory and temperature were whose."""
    one, two = (
        changed(trace, temperature_celsius=np.full(900, 40.0 + 20 * number))
        for number, trace in enumerate(clean_recording(together=False).traces)
    )
    one = changed(one, memory_used_bytes=np.full(900, 1e9))
    before = {trace.device.uuid: trace.between(0, 500) for trace in (one, two)}
    later = [
        changed(mine.between(500, 900), **{name: other[name][500:] for name in NAMES})
        for mine, other in ((one, two), (two, one))
    ]

    assert highest_score(exchange_deviations(tuple(later)), CODE) < 1
    assert highest_score(exchange_deviations(tuple(later), before), CODE) > 1


def test_an_exchange_that_one_device_shows_a_sample_later_is_found():
    """Devices are read up to a sample apart; memory has to cross, for temperatures do by chance."""
    one, two = (
        changed(
            trace,
            temperature_celsius=np.full(900, 40.0 + 20 * number),
            memory_used_bytes=np.full(900, 1e9 * (1 + number)),
        )
        for number, trace in enumerate(clean_recording().traces)
    )
    swapped = [
        changed(mine, **{name: np.where(np.arange(900) >= first, other[name], mine[name]) for name in NAMES})
        for mine, other, first in ((one, two, 500), (two, one, 501))
    ]

    assert highest_score(exchange_deviations(tuple(swapped)), CODE) > 1
