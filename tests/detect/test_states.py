"""What one sample may be taken for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.detector import CHANNELS, GPU_A, LAW, LOOKS, START_NS, trace_of
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import Trace
from flopwitness.detect.states import IdleLevels, State, sample_states, witnesses

NAN = float("nan")
IDLE = dict(zip(CHANNELS, LOOKS["idle"], strict=True))
STALLED = dict(zip(CHANNELS, LOOKS["stalled"], strict=True))


def state_of(readings: dict[str, float], levels: IdleLevels | None = None) -> State:
    """Return the state of one sample."""
    trace = Trace(GPU_A, [START_NS], {name: [value] for name, value in readings.items()})
    return State(sample_states(trace, levels or IdleLevels())[0])


@pytest.mark.parametrize("name", sorted(LOOKS))
def test_the_looks_of_a_real_board_are_told_apart(name: str):
    """Idle, stalled, working and unseen as two H200s showed them."""
    (state,) = sample_states(trace_of([(name, 0.1)]))

    assert State(state).name.lower() == name


@pytest.mark.parametrize(
    "channel",
    [
        "tensor_active_ratio",
        "fp64_active_ratio",
        "fp32_active_ratio",
        "imma_active_ratio",
        "dram_active_ratio",
    ],
)
def test_any_pipe_or_memory_above_its_level_is_work(channel: str):
    """FP64 shows in its own pipe, CUDA-core FP32 in another: none of them may be overlooked."""
    assert state_of(IDLE | {channel: 0.001}) is State.WORKING


def test_the_dram_of_an_idle_board_is_not_exactly_zero():
    """Idle H200s read up to 0.0012 % there."""
    assert state_of(IDLE | {"dram_active_ratio": 0.000012}) is State.IDLE


def test_a_collective_that_spins_on_every_sm_is_not_work():
    """24 of 132 SMs read 0.16 % in the integer pipe, so all of them read 0.88 %."""
    assert state_of(STALLED | {"sm_active_ratio": 1.0, "int_active_ratio": 0.0088}) is State.STALLED


def test_integer_work_is_work():
    """An integer pipe at a fifth of its cycles does more than wait."""
    assert state_of(STALLED | {"int_active_ratio": 0.2}) is State.WORKING


def test_power_above_its_idle_level_overrules_counters_at_zero():
    """Counters trail a start by one sample, and can be frozen; 720 W are not idle."""
    assert state_of(IDLE | {"power_instant_watts": 720.0}) is State.WORKING


def test_utilisation_is_not_asked_where_sm_activity_was_seen():
    """It trails the end of work by up to a second."""
    assert state_of(IDLE | {"gpu_util_ratio": 0.99}) is State.IDLE


def test_resident_warps_without_a_seen_memory_are_not_called_stalled():
    """What cannot be shown to do nothing is not idle, and not named either."""
    without = {name: value for name, value in STALLED.items() if name != "dram_active_ratio"}

    assert state_of(without) is State.UNSEEN


def test_resident_warps_without_a_seen_power_are_not_called_stalled():
    """A pipe that the source does not offer would show in power alone."""
    assert state_of(STALLED | {"power_instant_watts": NAN}) is State.UNSEEN


def test_resident_warps_with_a_blank_pipe_are_not_called_stalled():
    """The pipe that gave no answer may have been the one that worked."""
    assert state_of(STALLED | {"int_active_ratio": NAN}) is State.UNSEEN


def test_zeros_beside_a_blank_are_not_idle_at_full_power():
    """GPM gives 0 for all its channels beside a blank DRAM value, in the middle of a run."""
    blank = IDLE | {"dram_active_ratio": NAN, "gpu_util_ratio": 1.0, "power_instant_watts": 769.0}

    assert state_of(blank) is State.WORKING


def test_zeros_beside_a_blank_are_not_idle_while_utilisation_is_up():
    """The same in a deadlock, which draws little: nobody can tell."""
    blank = IDLE | {"dram_active_ratio": NAN, "gpu_util_ratio": 1.0, "power_instant_watts": 128.0}

    assert state_of(blank) is State.UNSEEN


def test_a_blank_is_idle_where_utilisation_and_power_both_say_so():
    """The profiler gave no answer, but the sample was taken and the board lay still."""
    assert state_of(IDLE | {"dram_active_ratio": NAN}) is State.IDLE


@pytest.mark.parametrize("channel", ["gpu_util_ratio", "power_instant_watts"])
def test_a_blank_is_unseen_where_a_stand_in_is_blank_too(channel: str):
    """Half a stand-in is none."""
    assert state_of(IDLE | {"dram_active_ratio": NAN, channel: NAN}) is State.UNSEEN


@pytest.mark.parametrize(
    ("readings", "state"),
    [
        ({"gpu_util_ratio": 0.0, "power_watts": 80.0}, State.IDLE),
        ({"gpu_util_ratio": 0.01, "power_watts": 80.0}, State.UNSEEN),
        ({"gpu_util_ratio": 0.0, "power_watts": 300.0}, State.WORKING),
        ({"gpu_util_ratio": 0.0}, State.IDLE),
        ({"power_watts": 80.0}, State.IDLE),
        ({"power_watts": NAN}, State.UNSEEN),
        ({"temperature_celsius": 40.0}, State.UNSEEN),
        ({"dram_active_ratio": 0.0, "gpu_util_ratio": 0.5, "power_watts": 80.0}, State.UNSEEN),
        ({"dram_active_ratio": 0.0, "gpu_util_ratio": 0.0, "power_watts": 40.0}, State.IDLE),
    ],
)
def test_poor_sources_are_judged_by_what_they_have(readings: dict[str, float], state: State):
    """Utilisation and power stand in for activity; a source that offers neither is never idle."""
    assert state_of(readings) is state


def test_the_instant_power_comes_before_the_mean():
    """The mean still reads 540 W half a second after work ended."""
    assert state_of(IDLE | {"power_watts": 540.0}) is State.IDLE


def test_power_can_be_left_out():
    """On a board whose idle power nobody knows, an infinite level asks the counters alone."""
    assert state_of(IDLE | {"power_instant_watts": 720.0}, IdleLevels(power_watts=float("inf"))) is State.IDLE


def test_the_channels_that_were_asked_are_named():
    """Activity first, then utilisation and one power."""
    trace = trace_of([("idle", 0.1)])

    assert witnesses(trace) == (
        "tensor_active_ratio",
        "int_active_ratio",
        "dram_active_ratio",
        "sm_active_ratio",
        "gpu_util_ratio",
        "power_instant_watts",
    )


@LAW
@given(
    readings=st.dictionaries(
        st.sampled_from(CHANNELS), st.one_of(st.just(NAN), st.floats(0, 1), st.sampled_from([0.0, 700.0]))
    )
)
def test_a_sample_without_any_answer_is_never_idle(readings: dict[str, float]):
    """Ignorance is not rest, whatever the source offers."""
    assert state_of(dict.fromkeys(readings, NAN)) is State.UNSEEN


@LAW
@given(
    readings=st.fixed_dictionaries({name: st.one_of(st.just(NAN), st.floats(0, 1)) for name in CHANNELS}),
    channel=st.sampled_from(["tensor_active_ratio", "dram_active_ratio", "sm_active_ratio"]),
)
def test_more_activity_never_turns_a_sample_idle(readings: dict[str, float], channel: str):
    """Idle is the bottom: raising a witness can only leave it."""
    if state_of(readings) is not State.IDLE:
        assert state_of(readings | {channel: 1.0}) is not State.IDLE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("activity_ratio", 1.0),
        ("activity_ratio", -0.1),
        ("integer_ratio", NAN),
        ("utilisation_ratio", 5.0),
        ("power_watts", 0.0),
        ("power_watts", NAN),
    ],
)
def test_levels_out_of_range_are_refused(name: str, value: float):
    """A level in percent or an unset one would call everything idle, or nothing."""
    with pytest.raises(InvalidNounError, match=name):
        IdleLevels(**{name: value})
