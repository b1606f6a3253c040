"""Sessions, watches and accounts made by hand, and strategies for them."""

from collections.abc import Iterable

from hypothesis import strategies as st

from flopwitness.core.account import Account, DeviceWatch, Scope, SessionEvidence
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.workclass import ClassOpinion, WorkClass
from flopwitness.core.workload import Target
from flopwitness.verify.accounts import account
from flopwitness.verify.dependence import ALL_SHARED, Dependence

SECOND = 10**9
METHOD = "fused"
SCOPE = Scope("made", ("GPU-a", "GPU-b"), 0, 1000 * SECOND)
CEILING = 100.0
"""FLOP per second of a device."""

ALARM = Finding("energy-power", "energy and power disagree", Severity.ALARM)


def estimate(
    point: float = 100.0, low: float = 0.95, high: float = 1.05, most: float = 1.2, *, method: str = METHOD
) -> Estimate:
    """Return an estimate; ends as shares of the point."""
    return Estimate(
        point, low * point, high * point, 0.9, method, Target.EXECUTED, most_flop=max(most, high) * point
    )


def session(
    start: float = 10,
    stop: float = 20,
    *devices: str,
    told: Estimate | None = None,
    findings: Iterable[Finding] = (),
    kind: WorkClass | None = None,
) -> SessionEvidence:
    """Return a session from and to these seconds, on both devices where none is named."""
    held = devices or ("GPU-a", "GPU-b")
    found = estimate() if told is None else told
    probabilities = {kind: 1.0} if kind is not None and kind is not WorkClass.UNKNOWN else {}
    return SessionEvidence(
        session_id=f"{start:g}-{stop:g}-{'+'.join(held)}",
        start_ns=round(start * SECOND),
        stop_ns=round(stop * SECOND),
        devices=held,
        estimates={Target.EXECUTED: {found.method: found}},
        findings=tuple(findings),
        opinion=None if kind is None else ClassOpinion(kind, probabilities, ("made",)),
        energy_joules=1.0,
        source="made",
        digest=f"{start:g}",
    )


def watch(device: str, *stretches: tuple[float, float], outside: float = 0.0) -> DeviceWatch:
    """Return a watch over these seconds; over the whole scope where none are given."""
    spans = stretches or ((0, 1000),)
    return DeviceWatch(
        device,
        "H200-SXM",
        tuple((round(start * SECOND), round(stop * SECOND)) for start, stop in spans),
        CEILING,
        outside,
    )


WATCHED = (watch("GPU-a"), watch("GPU-b"))


def made_account(
    sessions: Iterable[SessionEvidence] = (),
    watches: Iterable[DeviceWatch] = WATCHED,
    *,
    scope: Scope = SCOPE,
    dependence: Dependence = ALL_SHARED,
) -> Account:
    """Return an account of executed FLOP by ``fused``."""
    return account(scope, sessions, watches, target=Target.EXECUTED, method=METHOD, dependence=dependence)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    """Any estimate with finite ends."""
    ratio = st.floats(0, 1)
    return estimate(draw(st.floats(1, 1e6)), draw(ratio), 1 + draw(ratio), 1 + draw(st.floats(1, 3)))


@st.composite
def session_lists(draw: st.DrawFn, *, min_size: int = 0) -> list[SessionEvidence]:
    """Sessions one after the other, each of both devices."""
    told = draw(st.lists(estimates(), min_size=min_size, max_size=6))
    return [session(10 * number, 10 * number + 8, told=one) for number, one in enumerate(told)]
