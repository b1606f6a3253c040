"""One page of HTML on a scope: verdicts first, then figures, tables, and what all of it rests on. Pure."""

from collections.abc import Callable
from itertools import count

from matplotlib.figure import Figure

from flopwitness.app.report.pages import filled
from flopwitness.app.report.render import Drawing
from flopwitness.app.report.scope_bars import amounts_plate
from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_conventions import chains, declared_table
from flopwitness.app.report.scope_doubts import doubts
from flopwitness.app.report.scope_form import form_table
from flopwitness.app.report.scope_growth import growth_plate
from flopwitness.app.report.scope_ledger import PROVES, PROVES_NOT, ledger_facts, proof_facts
from flopwitness.app.report.scope_sentences import glance_table, said_of_claim, said_of_threshold
from flopwitness.app.report.scope_sources import evidence_table, made_with_table, sources
from flopwitness.app.report.scope_tables import (
    account_table,
    device_table,
    finding_table,
    layer_table,
    session_table,
)
from flopwitness.app.report.scope_timeline import scope_timeline_plate
from flopwitness.app.report.scope_wording import claim_text, duration_text
from flopwitness.app.report.wording import counted_text, stretch_text
from flopwitness.core.trace import NANOSECONDS_PER_SECOND

TEMPLATE = "scope.html.j2"


def render_scope(content: ScopeContent, *, draw: Callable[[Figure], str]) -> str:
    """Return one page of HTML that needs nothing else: no script, no other file, no network.

    The same content gives the same page.

    Parameters
    ----------
    content : ScopeContent
        What to show.
    draw : callable
        Turns a figure into an ``svg`` element, such as ``flopwitness.app.svg.inline_svg``; it must escape
        what the figure says.
    """
    said = [said_of_claim(content, one) for one in content.claims]
    said += [said_of_threshold(content, one) for one in content.thresholds]
    return filled(
        TEMPLATE,
        content=content,
        facts=head_facts(content),
        said=said,
        glance=glance_table(said),
        doubts=doubts(content),
        drawings=_drawings(content, draw),
        account=account_table(content),
        devices=device_table(content),
        sessions=session_table(content),
        findings=finding_table(content),
        layers=layer_table(content),
        declared=declared_table(content),
        chains=chains(content),
        ledgers=[
            (ledger_facts(one), [proof_facts(proof, one.vouchers(proof.index)) for proof in one.proofs])
            for one in content.ledgers
        ],
        proves=PROVES,
        proves_not=PROVES_NOT,
        form=form_table(content),
        evidence=evidence_table(content),
        made_with=made_with_table(content),
        sources=sources(content),
    )


def head_facts(content: ScopeContent) -> tuple[tuple[str, str], ...]:
    """Return what the page is about: scope, period, devices, what was seen, and who claims what."""
    account, scope = content.account, content.account.scope
    seconds = (scope.stop_ns - scope.start_ns) / NANOSECONDS_PER_SECOND
    claims = "; ".join(f"{one.claim.declarant}: {claim_text(one.claim)}" for one in content.claims)
    chips = ", ".join(dict.fromkeys(watch.chip for watch in content.watches if watch.chip))
    devices = counted_text(len(scope.devices), "GPU") + (f" ({chips})" if chips else "")
    return (
        ("Scope", scope.name),
        ("Period (UTC)", f"{stretch_text(scope.start_ns, scope.stop_ns)} ({duration_text(seconds)})"),
        ("Devices", devices),
        ("Sessions", counted_text(len(account.sessions), "session")),
        ("Claimed", claims or "nothing"),
    )


def _drawings(content: ScopeContent, draw: Callable[[Figure], str]) -> dict[str, Drawing]:
    """Return the figures by name, numbered in the order of the page; one without data is absent."""
    plates = {
        "amounts": amounts_plate(content, ident="amounts"),
        "lanes": scope_timeline_plate(content, ident="lanes"),
        "growth": growth_plate(content, ident="growth"),
    }
    numbers = count(1)
    return {
        name: Drawing(next(numbers), plate.ident, plate.heading, plate.caption, draw(plate.figure))
        for name, plate in plates.items()
        if plate is not None
    }
