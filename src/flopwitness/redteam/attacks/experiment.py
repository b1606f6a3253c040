"""The five strategies of the experiment, and the clock lock whose result it does not give."""

from flopwitness.redteam.attack import Attack, Strength
from flopwitness.redteam.attacks.twins import BATCH, HEADS, LARGE, by_value

PAUSE_SECONDS = 6.0
"""As the experiment paused: longer than the 4.5 s of idleness that end a job for its detector."""

EXPERIMENT = (
    Attack(
        name="split",
        rationale="Pauses longer than the detector waits let one run be logged as several unlinked jobs.",
        twin=LARGE,
        strengths=tuple(
            Strength(str(pauses), {"pauses": pauses, "pause_seconds": PAUSE_SECONDS}) for pauses in (1, 2, 3)
        ),
        reference="S1",
    ),
    Attack(
        name="throttle",
        rationale="A short sleep after each step lowers mean utilisation below what a gate calls training.",
        twin=LARGE,
        strengths=by_value("duty_ratio", 0.8, 0.65, 0.5),
        reference="S2",
    ),
    Attack(
        name="heads",
        rationale="Head counts that nobody calibrated move power and memory traffic at equal matrix work.",
        twin=HEADS,
        strengths=(*by_value("n_heads", 1, 2, 32, 64), Strength("sgd", {"optimizer": "sgd"})),
        reference="S3",
    ),
    Attack(
        name="batch",
        rationale="Batches past the calibrated range run more efficiently: less energy and traffic a FLOP.",
        twin=BATCH,
        strengths=by_value("batch", 16, 32, 64, 128),
        reference="S4",
    ),
    Attack(
        name="power-cap",
        rationale="Under a lower power limit the same FLOP draw fewer watts for a longer time.",
        twin=LARGE,
        strengths=tuple(
            Strength(f"{watts}w", {"power_limit_watts": watts}) for watts in (300, 250, 200, 150, 100)
        ),
        reference="S5",
        runnable=False,
    ),
    Attack(
        name="clock-lock",
        rationale="At a fixed low clock the voltage falls, and with it the energy of each FLOP.",
        twin=LARGE,
        strengths=tuple(
            Strength(f"{megahertz}mhz", {"sm_clock_hertz": megahertz * 1_000_000})
            for megahertz in (1500, 1200, 900)
        ),
        reference="S6",
        runnable=False,
    ),
)
"""Power limit and clock are settings of the board, in the experiment's watts: no workload changes them."""
