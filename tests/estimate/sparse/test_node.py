"""A node behind one meter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimate.sparse.boards_made import session_of, trace_of
from flopwitness.estimate.features.steps import session_steps
from flopwitness.estimate.sparse.node import (
    gpu_net_joules,
    idle_watts_of_node,
    node_envelope,
    working_watts_of_node,
)
from flopwitness.physics.chips import CHIPS

H100 = CHIPS["H100-SXM"]


def node_of(watts: object, n_samples: int = 61) -> object:
    """Return a node's samples, two seconds apart."""
    return trace_of(n_samples, step=2.0, uuid="node", node_power_watts=watts)


@settings(deadline=None)  # machines are busy
@given(
    boards=st.floats(250, 700),
    host=st.floats(0.2, 0.4),
    rise=st.floats(0.05, 0.25),
    supply=st.floats(0.92, 1.0),
    n_gpus=st.sampled_from([1, 4, 8]),
)
def test_what_the_gpus_really_drew_is_inside(
    boards: float, host: float, rise: float, supply: float, n_gpus: int
) -> None:
    """Hosts of 0.2 to 0.4 of the GPUs' limits that rise with them, and supplies of 0.92 to 1.0."""
    limits, idle = 700.0 * n_gpus, 80.0
    drawn = np.concatenate([[idle] * 10, [boards] * 51]) * n_gpus
    watts = (drawn + host * limits + rise * (drawn - idle * n_gpus)) / supply
    trace = node_of(watts)
    session = session_of(trace.between(12, 61))

    net = gpu_net_joules(
        session_steps(session, session.traces[0]),
        H100,
        n_gpus,
        idle_watts=idle_watts_of_node(trace, H100, n_gpus),
    )

    assert net.low <= (boards - idle) * n_gpus * session.duration_seconds <= net.high


def test_an_idle_node_is_found_by_its_own_power_and_a_busy_one_has_none() -> None:
    """2.4 kW are idle for eight H100s; a recording that begins and ends under load shows no idle power."""
    watts = np.concatenate([[2400.0] * 5, [7200.0] * 56])

    assert idle_watts_of_node(node_of(watts), H100, 8) == 2400.0
    assert np.isnan(idle_watts_of_node(node_of(7200.0), H100, 8))
    assert 2400 < working_watts_of_node([node_of(watts)], H100, 8) < 7200
    assert working_watts_of_node([trace_of(power_watts=80.0)], H100, 8) == float("inf")


def test_a_dip_of_the_meter_is_no_idle_node() -> None:
    """No host draws nothing."""
    watts = np.where(np.arange(61) == 30, 0.0, 7200.0)

    assert idle_watts_of_node(node_of(watts), H100, 8) == pytest.approx(0.2 * 5600)


def test_idle_time_that_was_seen_narrows() -> None:
    """The rise over idle says more than the whole less a host that nobody knows."""
    session = session_of(node_of(7200.0))

    seen, unseen = (node_envelope(session, 8, idle).band for idle in (2400.0, float("nan")))

    assert seen is not None
    assert unseen is not None
    assert seen.low > unseen.low
    assert seen.high <= unseen.high
    assert seen.most == unseen.most == 8 * 120 * 132 * 1.98e9 * 9600


def test_unseen_minutes_open_both_ends() -> None:
    """A meter that fell silent for half of the time."""
    watts = np.where((np.arange(61) > 20) & (np.arange(61) < 40), np.nan, 7200.0)
    silent, whole = (node_envelope(session_of(node_of(each)), 8, 2400.0).band for each in (watts, 7200.0))

    assert silent is not None
    assert whole is not None
    assert silent.low < whole.low
    assert silent.high > whole.high


def test_without_a_meter_there_is_no_answer() -> None:
    """Of boards other methods speak."""
    assert node_envelope(session_of(trace_of(power_watts=600.0)), 8, 2400.0).band is None
    assert node_envelope(session_of(node_of(np.nan)), 8, 2400.0).band is None
