"""Energy of a session under the faults of counters and gauges, where FLOP are made from it.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com.
"""

import numpy as np
import pytest

from flopwitness.core.device import Device
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.estimate.energy import EnergyMethod
from flopwitness.estimate.features.energy import BoardEnergy, board_energy, energy_findings, mean_watts
from flopwitness.estimate.features.steps import Steps, session_steps
from flopwitness.physics.chips import CHIPS
from flopwitness.physics.power_sensors import averaging_seconds, reading_watts

H100 = CHIPS["H100-SXM"]


def steps_of(seconds: list[float] | np.ndarray, **channels: object) -> Steps:
    """Return the steps of a session over all samples."""
    time_ns = np.round(np.asarray(seconds) * 1e9).astype(np.int64)
    columns = {
        name: np.broadcast_to(np.asarray(value, float), time_ns.shape) for name, value in channels.items()
    }
    trace = Trace(Device("GPU-a", chip="H100-SXM"), time_ns, columns)
    return session_steps(Session(int(time_ns[0]), int(time_ns[-1]), (trace,)), trace)


def energy_of(seconds: list[float] | np.ndarray, **channels: object) -> BoardEnergy:
    """Return the energy of such a session."""
    return board_energy(steps_of(seconds, **channels), H100)


def codes(energy: BoardEnergy) -> set[str]:
    """Return what is said of an energy."""
    return {finding.code for finding in energy_findings(energy, "GPU-a")}


def test_c1_a_node_that_restarts_begins_a_new_counter() -> None:
    """Other tools give 9223372036391664972 or 0 J: IBM/CAST#399."""
    energy = energy_of([0, 1, 240, 241], energy_joules_total=[5_000_000, 5_000_600, 1.2, 601.2])

    assert energy.low_joules == pytest.approx(1201.2)
    assert (energy.n_resets, energy.unobserved_seconds) == (1, 239.0)
    assert energy.high_joules == pytest.approx(1201.2 + 239 * 700)
    assert "energy-counter-reset" in codes(energy)


def test_c5_a_frozen_counter_gives_way_to_power() -> None:
    """Constant under load: ROCm/amdsmi#38, ml-energy/zeus#113."""
    energy = energy_of(np.arange(61.0), energy_joules_total=8152.136, power_watts=300.0)

    assert energy.joules == 18_000.0
    assert str(energy.method) == "power-integrated, counter frozen"
    assert "energy-counter-frozen" in codes(energy)


def test_c6_two_sources_that_disagree_are_both_told() -> None:
    """187 J by the counter, 327 J by power, five idle seconds: ml-energy/zeus#181."""
    seconds = np.arange(51) / 10

    energy = energy_of(seconds, energy_joules_total=1000 + 187 * seconds / 5, power_watts=65.4)

    assert (energy.low_joules, energy.high_joules) == (pytest.approx(187), pytest.approx(327))
    assert abs(energy.counted_joules - energy.integrated_joules) == pytest.approx(140)
    assert energy.method is EnergyMethod.DISPUTED
    assert "energy-sources-differ" in codes(energy)


@pytest.mark.parametrize(("chip", "watts"), [("A100-SXM", 500.0), ("H100-SXM", 300.0)])
def test_c8_a_mean_and_an_instant_show_one_step_differently(chip: str, watts: float) -> None:
    """Half a second after a step from 100 to 500 W: ml-energy/zeus#45."""
    averaging = averaging_seconds(CHIPS[chip], "power_watts")

    shown = reading_watts(0.5, np.array([-9.0, 0.0]), np.array([100.0, 500.0]), averaging=averaging)

    assert shown == watts


def test_c9_hours_of_silence_are_no_energy() -> None:
    """4,320,000 J by the trapezoid: davidusb-geek/emhass#1051."""
    energy = energy_of([0, 7200], power_watts=600.0)

    assert energy.low_joules <= 3 * 600
    assert energy.unobserved_seconds == 7200.0
    assert energy.high_joules == pytest.approx(7200 * 700, rel=0.001)


def test_c10_reported_power_is_the_mean_over_time() -> None:
    """Not the last sample, 6.5 W: mlco2/codecarbon#985."""
    seconds = np.concatenate([np.arange(91) / 10, [9 + 1e-6], 9 + np.arange(1, 11) / 10])
    watts = np.where(seconds <= 9.0, 200.0, 6.5)

    assert mean_watts(steps_of(seconds, power_watts=watts)) == pytest.approx(180.65, abs=1e-4)
