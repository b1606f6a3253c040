"""Amounts and declarations for properties."""

from hypothesis import strategies as st

from flopwitness.core.account import Amount

FLOP = st.floats(0, 1e30)
AMOUNTS = st.lists(FLOP, min_size=4, max_size=4).map(lambda ends: Amount(*sorted(ends)))
POSITIVE = st.lists(st.floats(1e3, 1e30), min_size=4, max_size=4).map(lambda ends: Amount(*sorted(ends)))
"""Without a zero, so that ratios of ends exist."""

SHARES = {
    name: st.floats(0, 0.99)
    for name in ("failed_ratio", "auxiliary_ratio", "public_synthetic_ratio", "evaluation_ratio")
}
FACTORS = {"recompute_factor": st.floats(1, 1.34), "mask_factor": st.floats(1, 1.14)}
"""Inside what is assumed where nothing is declared."""

ADDITIONS = {name: st.floats(0, 1e30) for name in ("synthetic_flop", "parent_flop", "base_flop")}

NARROWING = st.fixed_dictionaries({}, optional=SHARES | FACTORS)
"""Declarations that speak of the work inside a scope."""

DECLARATIONS = st.fixed_dictionaries(
    {}, optional=SHARES | FACTORS | ADDITIONS | {"sparse_ratio": st.floats(0, 1)}
)
"""Everything that can be declared; a shape only by its factor."""


def ends_of(amount: Amount) -> tuple[float, float, float, float]:
    """Return the four ends in their order."""
    return amount.low_flop, amount.point_flop, amount.high_flop, amount.most_flop


def sure(flop: float) -> Amount:
    """Return an amount that is known exactly."""
    return Amount(flop, flop, flop, flop)
