"""From estimated to legally counted FLOP: which conversions each convention makes, each with a range.

An exclusion must stand in the text and be declared: only a developer knows which work failed or evaluated,
and where nothing is declared all of it counts. What nobody can see from outside (recomputation, the masked
half of attention) lowers the low end alone. What no hardware did is no compute used, so the high end rises
only by work that is declared to count beyond what was executed.
"""

from collections.abc import Mapping
from types import MappingProxyType

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target
from flopwitness.verify import conversion_table as table
from flopwitness.verify.conversions import Conversion, Reading
from flopwitness.verify.converting import Convention, Converted, Step, convert

__all__ = ["CONVENTIONS", "Convention", "Converted", "Step", "convention_named", "convert"]


_SHARES = (table.FAILED, table.AUXILIARY, table.PUBLIC_SYNTHETIC, table.EVALUATION)
_IN, _OUT, _OPEN, _KEPT = Reading.IN, Reading.OUT, Reading.OPEN, Reading.KEPT


def _all(readings: Mapping[str, Reading]) -> tuple[Conversion, ...]:
    """Return every conversion that a legal text may read its way, in order; shares first, additions last."""
    shares = tuple(share.read_as(readings["shares"]) for share in _SHARES)
    return (
        *shares,
        table.RECOMPUTATION.read_as(readings["recomputation"]),
        table.CAUSAL_MASK,
        table.PRECISION,
        table.SPARSITY,
        table.SYNTHETIC.read_as(readings["synthetic"]),
        table.PARENTS.read_as(readings["parents"]),
        table.BASE_MODEL.read_as(readings["base"]),
    )


_CUMULATIVE = {"shares": _OUT, "recomputation": _OUT, "synthetic": _IN, "parents": _IN, "base": _OUT}
_UPDATES = _CUMULATIVE | {"synthetic": _OPEN, "parents": _OPEN}
_AMERICAN = {"shares": _KEPT, "recomputation": _KEPT, "synthetic": _OPEN, "parents": _IN, "base": _OPEN}
_SILENT = {"shares": _KEPT, "recomputation": _OPEN, "synthetic": _OPEN, "parents": _OPEN, "base": _OPEN}

CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {
        convention.name: convention
        for convention in (
            Convention(
                "executed",
                "Executed FLOP",
                "What the hardware did: recomputation in, the half that a causal kernel skips out.",
                Target.EXECUTED,
                (),
                "the target of the estimate itself",
            ),
            Convention(
                "algorithmic",
                "Algorithmic FLOP",
                "As PyTorch's FlopCounterMode counts a step: attention in full, nothing twice.",
                Target.ALGORITHMIC,
                (table.RECOMPUTATION.read_as(_OPEN),),
                "torch.utils.flop_counter",
            ),
            Convention(
                "eu-cumulative",
                "EU, cumulative compute",
                "All training compute that contributed to the model, for systemic risk; as executed.",
                Target.EXECUTED,
                _all(_CUMULATIVE),
                f"Regulation (EU) 2024/1689, Art. 51(2); {table.GUIDELINES}",
            ),
            Convention(
                "eu-cumulative-architecture",
                "EU, cumulative compute by architecture",
                "The same by operations of full passes: attention in full, though a kernel may skip half.",
                Target.ALGORITHMIC,
                _all(_CUMULATIVE | {"recomputation": _OPEN}),
                f"{table.GUIDELINES}, architecture-based method",
            ),
            Convention(
                "eu-parameter-updates",
                "EU, parameter updates",
                "Compute that directly contributes to parameter updates; no systemic risk in question.",
                Target.EXECUTED,
                _all(_UPDATES),
                table.GUIDELINES,
            ),
            Convention(
                "us-operations",
                "US, operations",
                "Integer or floating-point operations of the run and later changes; no text excludes any.",
                Target.EXECUTED,
                _all(_AMERICAN),
                "California SB 53, BPC 22757.11(i); no exclusion was found in the texts read (unverified)",
            ),
            Convention(
                "treaty-training",
                "Draft treaty, training FLOP",
                "Training FLOP; what counts was not read, so both readings are carried.",
                Target.EXECUTED,
                _all(_SILENT | {"base": _OUT}),
                "arXiv:2511.10783 (abstract)",
            ),
            Convention(
                "korea-cumulative",
                "South Korea, cumulative training compute",
                "Cumulative training FLOP; what counts is not recorded here, so both readings are carried.",
                Target.EXECUTED,
                _all(_SILENT),
                "South Korea AI Basic Act, ministry text in Korean (address not recorded)",
            ),
        )
    }
)
"""Every convention by its name."""


def convention_named(name: str) -> Convention:
    """Return a convention.

    Raises
    ------
    InvalidNounError
        When there is none of this name.
    """
    if name not in CONVENTIONS:
        raise InvalidNounError(f"no convention {name!r}; known are {', '.join(CONVENTIONS)}")
    return CONVENTIONS[name]
