"""dcgm-exporter: scraped over HTTP, read by our own table of fields, one device a UUID."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from contracts.sampler import SamplerContract
from flopwitness.telemetry.samplers.dcgm_exporter import ExporterSampler, parsed
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError

BLANK = "9223372036854775794"
NOBODY = "http://127.0.0.1:9/metrics"


class ExporterRig:
    """Two GPUs behind a real HTTP server."""

    power_channel = "power_watts"
    uuids = ("GPU-a", "GPU-b")

    def __init__(self) -> None:
        watts: dict[str, float | None] = dict.fromkeys(self.uuids, 300.0)

        class Handler(BaseHTTPRequestHandler):
            """Prints what the rig shows."""

            def do_GET(self) -> None:
                """Answer a scrape."""
                self.send_response(200)
                self.end_headers()
                for uuid, power in watts.items():
                    labels = f'gpu="0",UUID="{uuid}",modelName="NVIDIA H200",Hostname="n1"'
                    shown = BLANK if power is None else power
                    for name, value in (("POWER_USAGE", shown), ("SM_CLOCK", 1755)):
                        self.wfile.write(f"DCGM_FI_DEV_{name}{{{labels}}} {value}\n".encode())

            def log_message(self, *_: object) -> None:
                """Keep the tests' output clean."""

        self._watts = watts
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.sampler = ExporterSampler(f"http://127.0.0.1:{self._server.server_port}/metrics")

    def show(self, uuid: str, watts: float | None) -> None:
        """Print this from now on."""
        self._watts[uuid] = watts

    def lose(self, uuid: str) -> None:
        """Print it no more."""
        del self._watts[uuid]

    def stop(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()


class TestExporter(SamplerContract):
    """The exporter keeps the contract of every live source."""

    def make_rig(self, folder: Path) -> ExporterRig:  # noqa: ARG002
        """Start a server."""
        return ExporterRig()


def values(text: str) -> dict[str, dict[str, float]]:
    """Return the values by UUID."""
    return {device.uuid: found for device, found in parsed(text).items()}


@pytest.mark.parametrize("name", ["DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO"])
def test_old_and_new_names_are_the_same_field(name: str):
    """DCGM 4.6 renamed its fields."""
    assert values(f'{name}{{UUID="GPU-a"}} 0.55') == {"GPU-a": {"tensor_active_ratio": 0.55}}


@pytest.mark.parametrize("name", ["DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO"])
def test_utilisation_is_percent_under_both_names(name: str):
    """The new name says ratio, the number is still 0 to 100."""
    assert values(f'{name}{{UUID="GPU-a"}} 97') == {"GPU-a": {"gpu_util_ratio": 0.97}}


def test_a_counter_may_carry_a_suffix_and_a_time():
    """Some libraries append ``_total``; an exposition may hold a time stamp."""
    text = 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total{UUID="GPU-a"} 5000 1770091506000'

    assert values(text) == {"GPU-a": {"energy_joules_total": 5.0}}


def test_board_values_repeated_by_slices_count_once():
    """Power of a whole board is printed once a slice: never a sum, and never a share of a slice."""
    lines = [
        f'DCGM_FI_DEV_POWER_USAGE{{UUID="GPU-a",GPU_I_ID="3"}} {BLANK}',
        'DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",GPU_I_ID="5"} 300',
        'DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",GPU_I_ID="7"} 301',
        'DCGM_FI_PROF_SM_ACTIVE{UUID="GPU-a",GPU_I_ID="5"} 0.9',
    ]

    assert values("\n".join(lines)) == {"GPU-a": {"power_watts": 300.0}}


def test_labels_may_vary():
    """Case, order, blanks behind commas, and a brace inside a value do not matter."""
    text = 'DCGM_FI_DEV_SM_CLOCK{pod="a}b\\"c", hostname="n1", uuid="GPU-a",model="x"} 345'

    ((device, found),) = parsed(text).items()

    assert (device.uuid, device.host, found) == ("GPU-a", "n1", {"sm_clock_hertz": 345e6})


@pytest.mark.parametrize("value", ["N/A", BLANK, "140737488355328", "NaN", ""])
def test_an_illegal_value_costs_that_sample_only(value: str):
    """The rest of the scrape stays."""
    text = f'DCGM_FI_DEV_POWER_USAGE{{UUID="GPU-a"}} {value}\nDCGM_FI_DEV_POWER_USAGE{{UUID="GPU-b"}} 300'

    found = values(text)

    assert found["GPU-b"] == {"power_watts": 300.0}
    assert np.isnan(found.get("GPU-a", {"power_watts": np.nan})["power_watts"])


def test_comments_and_fields_that_nobody_knows_are_left_out():
    """Also field 449, whose unit is ambiguous."""
    text = '# TYPE x counter\nup{UUID="GPU-a"} 1\nDCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{UUID="GPU-a"} 1000'

    assert values(text) == {}


def test_nobody_at_the_address_is_an_unavailable_source():
    """The address is told."""
    with pytest.raises(SourceUnavailableError, match=NOBODY):
        ExporterSampler(NOBODY)
    with pytest.raises(SourceUnavailableError, match="no http address"):
        ExporterSampler("file:///etc/passwd")


def test_an_exporter_that_went_away_loses_its_devices():
    """A round without answer is empty, with the reason; it is no crash."""
    rig = ExporterRig()
    rig.stop()

    assert rig.sampler.sample() == ()
    assert set(rig.sampler.lost) == {"GPU-a", "GPU-b"}
