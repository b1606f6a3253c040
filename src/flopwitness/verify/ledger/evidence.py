"""What a ledger says of sessions and devices, as accounts take it."""

from collections.abc import Iterable, Mapping
from typing import Any

from flopwitness.core.account import DeviceWatch, SessionEvidence
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.verdict import Verdict
from flopwitness.core.workclass import ClassOpinion, WorkClass
from flopwitness.core.workload import Target
from flopwitness.verify.ledger.entries import Entry, EntryKind, entry_hash, instant
from flopwitness.verify.ledger.samples import SampleSpan
from flopwitness.verify.spans import joined
from flopwitness.verify.watching import ceiling_flop_per_second

SAMPLES = "samples"
"""Field of an entry's body that lists the spans of samples that end with it."""

FLOP_FIELDS = ("point_flop", "low_flop", "high_flop", "most_flop")


def session_body(evidence: SessionEvidence) -> dict[str, Any]:
    """Return a session as the body of its entry; infinite bounds and unknown energy are null.

    ``source`` and ``digest`` are not in it: whoever reads the entry names its ledger and its hash there.
    """
    energy = evidence.energy_joules
    return {
        "session_id": evidence.session_id,
        "start_ns": str(evidence.start_ns),
        "stop_ns": str(evidence.stop_ns),
        "devices": list(evidence.devices),
        "estimates": {
            target.value: {name: _estimate_payload(one) for name, one in by_name.items()}
            for target, by_name in evidence.estimates.items()
        },
        "findings": [_finding_payload(finding) for finding in evidence.findings],
        "opinion": _opinion_payload(evidence.opinion),
        "energy_joules": energy if abs(energy) < float("inf") else None,
    }


def session_from(entry: Entry, *, source: str = "") -> SessionEvidence:
    """Read the session of an entry.

    Raises
    ------
    InvalidNounError
        When its body is no session.
    """
    body = entry.body
    try:
        energy = body["energy_joules"]
        return SessionEvidence(
            str(body["session_id"]),
            instant(body["start_ns"]),
            instant(body["stop_ns"]),
            tuple(str(uuid) for uuid in body["devices"]),
            estimates_from(body["estimates"]),
            tuple(_finding_from(one) for one in body["findings"]),
            _opinion_from(body["opinion"]),
            float("nan") if energy is None else float(energy),
            source,
            entry_hash(entry.line()),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InvalidNounError(f"entry {entry.sequence} holds no session ({what})") from None


def estimates_from(content: Mapping[str, Any]) -> dict[Target, dict[str, Estimate]]:
    """Read estimates; ``KeyError``, ``TypeError`` or ``ValueError`` where they are something else."""
    return {
        Target(target): {name: _estimate_from(name, Target(target), one) for name, one in by_name.items()}
        for target, by_name in content.items()
    }


def verdict_body(verdict: Verdict, *, subject: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict as the body of its entry.

    Parameters
    ----------
    verdict : Verdict
        What was answered.
    subject : mapping
        JSON values that say of what: scope, claim or threshold, and the ledger or recording it rests on.
    """
    return {
        "subject": dict(subject),
        "answer": verdict.answer.value,
        "reasons": list(verdict.reasons),
        "convention": verdict.convention,
        "probability_over": list(map(float, verdict.probability_over)) if verdict.probability_over else None,
        "would_settle": list(verdict.would_settle),
        "evidence_digests": list(verdict.evidence_digests),
    }


def spans_of(entry: Entry) -> tuple[SampleSpan, ...]:
    """Return the samples that end with an entry; ``InvalidNounError`` where they are malformed."""
    try:
        return tuple(SampleSpan.from_payload(one) for one in entry.body.get(SAMPLES, ()))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InvalidNounError(f"entry {entry.sequence} lists malformed samples ({what})") from None


def watches_of(entries: Iterable[Entry]) -> tuple[DeviceWatch, ...]:
    """Return when each device was watched: what digests of samples cover, and no more.

    What a killed daemon saw after its last entry is not there, unless it was recorded and taken up again.
    """
    stretches: dict[str, list[tuple[int, int]]] = {}
    chips: dict[str, str] = {}
    for span in (span for entry in entries for span in spans_of(entry)):
        chips[span.device.uuid] = span.device.chip
        stretches.setdefault(span.device.uuid, []).append((span.start_ns, span.stop_ns))
    return tuple(
        DeviceWatch(uuid, chip, joined(stretches[uuid]), ceiling_flop_per_second(chip))
        for uuid, chip in sorted(chips.items())
    )


def sessions_of(entries: Iterable[Entry], *, source: str = "") -> tuple[SessionEvidence, ...]:
    """Return the sessions of a ledger in the order in which they were written."""
    return tuple(session_from(one, source=source) for one in entries if one.kind is EntryKind.SESSION)


def _estimate_payload(one: Estimate) -> dict[str, Any]:
    flop = {name: getattr(one, name) for name in FLOP_FIELDS}
    return {name: float(value) if value < float("inf") else None for name, value in flop.items()} | {
        "coverage_ratio": float(one.coverage_ratio),
        "signals": list(one.signals),
    }


def _estimate_from(method: str, target: Target, content: Mapping[str, Any]) -> Estimate:
    point, low, high, most = (
        float("inf") if content[name] is None else float(content[name]) for name in FLOP_FIELDS
    )
    coverage_ratio, signals = float(content["coverage_ratio"]), tuple(map(str, content["signals"]))
    return Estimate(point, low, high, coverage_ratio, method, target, signals, most)


def _finding_payload(one: Finding) -> dict[str, Any]:
    return {
        "code": one.code,
        "message": one.message,
        "severity": one.severity.value,
        "subject": one.subject,
        "start_ns": None if one.start_ns is None else str(one.start_ns),
        "stop_ns": None if one.stop_ns is None else str(one.stop_ns),
    }


def _finding_from(content: Mapping[str, Any]) -> Finding:
    ends = [None if content[name] is None else instant(content[name]) for name in ("start_ns", "stop_ns")]
    severity = Severity(content["severity"])
    return Finding(str(content["code"]), str(content["message"]), severity, str(content["subject"]), *ends)


def _opinion_payload(opinion: ClassOpinion | None) -> dict[str, Any] | None:
    if opinion is None:
        return None
    return {
        "answer": opinion.answer.value,
        "probabilities": {kind.value: float(share) for kind, share in opinion.probabilities.items()},
        "reasons": list(opinion.reasons),
        "n_windows": opinion.n_windows,
        "unfamiliar_ratio": float(opinion.unfamiliar_ratio),
    }


def _opinion_from(content: Mapping[str, Any] | None) -> ClassOpinion | None:
    if content is None:
        return None
    return ClassOpinion(
        WorkClass(content["answer"]),
        {WorkClass(kind): float(share) for kind, share in content["probabilities"].items()},
        tuple(map(str, content["reasons"])),
        int(content["n_windows"]),
        float(content["unfamiliar_ratio"]),
    )
