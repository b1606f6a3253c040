"""Ledgers as people and programs read them: tables, JSON values, exported lines."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from flopwitness.app.cli.ledger_wording import SHOWN_DIGITS, UNFINISHED, not_proved, proved
from flopwitness.app.cli.output import data, print_table, utc
from flopwitness.app.ledgering import LedgerCheck, Trust, read_entries
from flopwitness.app.ledgering_samples import SampleMatch
from flopwitness.core.errors import BadInputError
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.storage.documents import to_json
from flopwitness.verify.ledger.checkpoints import fingerprint
from flopwitness.verify.ledger.entries import Entry, EntryKind, entry_hash, instant
from flopwitness.verify.ledger.proofs import LedgerProof

COLUMNS = ("kind", "entry", "written (UTC)", "what")


def selected(path: Path, *, kinds: Collection[str] | None, tail: int | None) -> Iterable[Entry]:
    """Return the entries of some kinds, or the last of these; ``BadInputError`` where a kind is unknown."""
    if unknown := sorted(set(kinds or ()) - set(EntryKind)):
        raise BadInputError("--kind", "", expected=f"one of {', '.join(EntryKind)}", got=unknown[0])
    found = (entry for entry in read_entries(path) if not kinds or entry.kind in kinds)
    return found if tail is None else deque(found, maxlen=tail)


def entry_object(entry: Entry) -> dict[str, Any]:
    """Return an entry as JSON values, with the hash that the next one names."""
    return {
        "sequence": entry.sequence,
        "at": utc(entry.at_ns),
        "at_ns": str(entry.at_ns),
        "kind": entry.kind.value,
        "body": entry.body,
        "previous": entry.previous,
        "hash": entry_hash(entry.line()),
    }


def print_entries(name: str, entries: Iterable[Entry]) -> None:
    """Print a table of entries."""
    rows = (
        (entry.kind.value, str(entry.sequence), utc(entry.at_ns)[:-8], _summary(entry)) for entry in entries
    )
    print_table(f"Entries of {name}, unchecked", COLUMNS, rows)


def check_object(check: LedgerCheck, trust: Trust, match: SampleMatch | None) -> dict[str, Any]:
    """Return what a check found as JSON values."""
    audit = check.audit
    return {
        "is_sound": not check.faults,
        "ledger": audit.ledger,
        "n_entries": audit.n_entries,
        "n_bytes": audit.n_bytes,
        "kinds": dict(audit.kinds),
        "keys": [
            {"fingerprint": fingerprint(span.public_key), "public_key": span.public_key, "since": span.since}
            for span in audit.keys
        ],
        "checkpoint": audit.last.to_payload() if audit.last else None,
        "faults": [
            {
                "source": name,
                "code": fault.code,
                "entry": fault.sequence,
                "offset_bytes": fault.offset_bytes,
                "message": fault.message,
            }
            for name, fault in check.faults
        ],
        "samples": _match_object(match),
        "proves": list(proved(check, trust)),
        "does_not_prove": list(not_proved(check, trust)),
    }


def print_check(name: str, check: LedgerCheck, trust: Trust, match: SampleMatch | None) -> None:
    """Print what a check found, what that proves and what it does not."""
    audit = check.audit
    lines = []
    for source, fault in check.faults:
        where = f"entry {fault.sequence}, byte {fault.offset_bytes}; {fault.code}"
        lines.append(f"ALTERED  {source}: {fault.message} ({where})")
        lines += [UNFINISHED] if fault.code == "unfinished" else []
    if check.faults and audit.last is not None:
        lines.append(f"Entries 0 to {audit.last.size - 1} are under a checkpoint whose signature holds.")
    if not check.faults:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(audit.kinds.items()))
        lines.append(f"SOUND  {name}: {audit.n_entries} entries ({counts})")
        lines += ["", "This proves", *_listed(proved(check, trust))]
    if match is not None:
        lines += ["", *_match_lines(match)]
    lines += ["", "It does not prove", *_listed(not_proved(check, trust))]
    for span in audit.keys:
        lines.append(f"key from entry {span.since} on: {fingerprint(span.public_key)}")
    data().print("\n".join(lines), markup=False, soft_wrap=True)


def proof_object(proof: LedgerProof, *, is_key: bool | None) -> dict[str, Any]:
    """Return a checked proof as JSON values; ``is_key`` is None where no key was named."""
    return {
        "is_verified": proof.is_verified,
        "is_key": is_key,
        "entry": entry_object(proof.entry),
        "size": proof.size,
        "root": proof.root,
        "fingerprint": proof.fingerprint,
    }


def print_proof(proof: LedgerProof, *, is_key: bool | None) -> None:
    """Print whether a proof holds, and its entry."""
    words = {
        None: "compare it with one that came another way",
        True: "the one named",
        False: "NOT the one named",
    }
    holds = "holds" if proof.is_verified else "DOES NOT HOLD"
    lines = (
        f"The proof {holds}: entry {proof.index} of the {proof.size} under root {proof.root}",
        f"signed by key {proof.fingerprint}: {words[is_key]}",
        "It shows that this entry is in the signed ledger, unaltered; not that what it says is true.",
        proof.line.decode(),
    )
    data().print("\n".join(lines), markup=False, soft_wrap=True)


def period(start: str | None, stop: str | None) -> tuple[int, int]:
    """Return the ends of a period in nanoseconds, open where not given."""
    first = -(2**63) if start is None else _instant(start, "--from")
    last = 2**63 if stop is None else _instant(stop, "--until")
    return first, last


def exported_lines(path: Path, ends_ns: tuple[int, int], *, kinds: Collection[str] | None) -> Iterator[bytes]:
    """Yield the entries that were written in a period as JSON lines."""
    for entry in selected(path, kinds=kinds, tail=None):
        if ends_ns[0] <= entry.at_ns < ends_ns[1]:
            yield to_json(entry_object(entry), source=str(path))


def _instant(text: str, option: str) -> int:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadInputError(option, "", expected="an instant such as 2026-11-30T12:00:00", got=text) from None
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found
    whole = found.replace(microsecond=0)
    return int(whole.timestamp()) * 10**9 + found.microsecond * 1000


def _listed(sentences: Iterable[str]) -> list[str]:
    return [f"  - {sentence}" for sentence in sentences]


def _match_object(match: SampleMatch | None) -> dict[str, Any] | None:
    if match is None:
        return None
    altered = [{"entry": sequence} | span.to_payload() for sequence, span in match.altered]
    return {"n_alike": match.n_alike, "n_elsewhere": match.n_elsewhere, "altered": altered}


def _match_lines(match: SampleMatch) -> list[str]:
    lines = [
        f"Samples: {match.n_alike} spans as the ledger has them, {match.n_elsewhere} not in the recording"
    ]
    for sequence, span in islice(match.altered, 10):
        where = f"{span.device.uuid} from {utc(span.start_ns)} to {utc(span.stop_ns)}"
        lines.append(f"ALTERED  samples of {where}, which entry {sequence} vouches for")
    return lines


def _summary(entry: Entry) -> str:
    """Return the few words that tell an entry from its neighbours."""
    try:
        return SUMMARIES[entry.kind](entry.body)
    except (AttributeError, KeyError, TypeError, ValueError):
        return "not as its kind should be"


def _started(body: Mapping[str, Any]) -> str:
    before = body["before"]
    was = "the first" if before is None else "after a stop" if before["was_stopped"] else "NO STOP before it"
    return f"{body['host']}, {len(body['devices'])} devices, {was}"


def _silent(body: Mapping[str, Any]) -> str:
    seconds = (instant(body["stop_ns"]) - instant(body["start_ns"])) / NANOSECONDS_PER_SECOND
    return f"{body['device']} silent for {seconds:.1f} s"


def _key_name(body: Mapping[str, Any]) -> str:
    return f"key {fingerprint(body['public_key'])[:SHOWN_DIGITS]}"


SUMMARIES: Mapping[EntryKind, Callable[[Mapping[str, Any]], str]] = {
    EntryKind.GENESIS: _key_name,
    EntryKind.CHECKPOINT: _key_name,
    EntryKind.KEY: _key_name,
    EntryKind.START: _started,
    EntryKind.STOP: lambda body: f"{body['reason']}, {body['n_sessions']} sessions",
    EntryKind.GAP: _silent,
    EntryKind.WATCHED: lambda body: f"{len(body['samples'])} devices",
    EntryKind.CALIBRATION: lambda body: f"{body['chip']} {body['sha256'][:SHOWN_DIGITS]}",
    EntryKind.SESSION: lambda body: f"{body['name'] or 'workload'} {body['session_id']}",
    EntryKind.VERDICT: lambda body: str(body["answer"]),
}
