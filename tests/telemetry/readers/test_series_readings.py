"""Series of a file to readings."""

import numpy as np

from contracts.format import codes
from flopwitness.telemetry.prometheus.series import Series
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.reading import Context
from flopwitness.telemetry.readers.series_readings import SeriesReader, identified, identity_of

POWER = "DCGM_FI_DEV_POWER_USAGE"


def context_of(asked: Asked | None = None) -> Context:
    """Return a pass over nothing."""
    return Context(Input.of_bytes(b"", "capture"), asked or Asked())


def series(*time_ns: int, **labels: str) -> Series:
    """Return power of a GPU, 300 W throughout."""
    return Series({"__name__": POWER, **labels}, np.array(time_ns), np.full(len(time_ns), 300.0))


def test_a_series_without_a_uuid_is_named_by_capture_host_and_index():
    """Two hosts count from 0 each."""
    labels = {"__name__": POWER, "gpu": "0", "Hostname": "n1"}

    assert identified(context_of(), labels)["UUID"] == "capture:n1:0"
    assert identified(context_of(), {"__name__": POWER}) == {"__name__": POWER}


def test_the_identity_of_a_signal_is_its_device_and_slice():
    """Pods and hosts are no part of it; what is no signal has none."""
    first = {"__name__": f"{POWER}_total", "UUID": "a", "pod": "x"}

    assert identity_of(first) == identity_of({"__name__": POWER, "uuid": "a", "hostname": "n1"})
    assert identity_of(first) != identity_of({**first, "GPU_I_ID": "1"})
    assert identity_of({"__name__": "up", "UUID": "a"}) is None


def test_samples_before_those_already_given_are_counted():
    """A file larger than memory is not sorted."""
    context = context_of()
    reader = SeriesReader(context)

    given = [*reader.readings([series(10, 30, UUID="a")]), *reader.readings([series(20, 40, UUID="a")])]

    assert [each.time_ns.tolist() for each in given] == [[10, 30], [40]]
    assert "late-rows" in codes(context.notes.findings())


def test_what_the_user_adds_names_chip_and_host():
    """Where the labels do not."""
    asked = Asked(chip="H200-SXM", host="n9")

    (given,) = SeriesReader(context_of(asked)).readings([series(10, UUID="a", modelName="Voodoo 2")])

    assert (given.devices[0].chip, given.devices[0].host) == ("H200-SXM", "n9")


def test_a_file_without_power_is_told():
    """Exporters normally give it."""
    context = context_of()
    reader = SeriesReader(context)

    list(
        reader.readings(
            [Series({"__name__": "DCGM_FI_DEV_SM_CLOCK", "UUID": "a"}, np.array([1]), np.ones(1))]
        )
    )
    reader.close()

    assert "missing-column" in codes(context.notes.findings())
