"""Every estimator against the contract, and against scikit-learn's own checks."""

from collections.abc import Callable

from sklearn.utils.estimator_checks import parametrize_with_checks

from contracts.estimator import EstimatorContract, KnownRuns
from estimate.made import energy_runs, simulated_runs
from flopwitness.estimate.regressors.base import FlopRegressor
from flopwitness.estimate.regressors.fused import FusedRegressor
from flopwitness.estimate.regressors.linear import LinearEnergyRegressor
from flopwitness.estimate.regressors.network import NetworkRegressor
from flopwitness.estimate.regressors.pipe_cycles import CalibratedPipeRegressor, PipeSumRegressor

N_RUNS = 48


def quick_network(*, is_residual: bool = False) -> NetworkRegressor:
    """Return a network that is trained for a moment only."""
    return NetworkRegressor(is_residual=is_residual, n_epochs=20, n_members=2)


@parametrize_with_checks(
    [
        LinearEnergyRegressor(),
        quick_network(),
        quick_network(is_residual=True),
        PipeSumRegressor(),
        CalibratedPipeRegressor(),
        CalibratedPipeRegressor(n_folds=3),
        FusedRegressor(),
        FusedRegressor(is_algorithmic=True, blend_ratio=1.0),
    ]
)
def test_scikit_learn_finds_nothing_to_object_to(
    estimator: FlopRegressor, check: Callable[[FlopRegressor], None]
):
    """All of its checks, none excused: ours can take the place of any regressor, and its of ours."""
    check(estimator)


class EnergyContract(EstimatorContract):
    """Those that read energy, time and traffic."""

    def known_runs(self) -> KnownRuns:
        """Return runs that obey equation (1)."""
        return KnownRuns(*energy_runs(N_RUNS))


class PipeContract(EstimatorContract):
    """Those that read pipe cycles."""

    def known_runs(self) -> KnownRuns:
        """Return the two pipe columns of simulated runs."""
        runs = simulated_runs(N_RUNS)
        return KnownRuns(runs.X[:, :2], runs.executed_flop)


class TestLinearEnergyRegressor(EnergyContract):
    """Equation (1)."""

    def make_estimator(self) -> FlopRegressor:
        """Return a fresh one."""
        return LinearEnergyRegressor()


class TestNetworkRegressor(EnergyContract):
    """The experiment's network."""

    def make_estimator(self) -> FlopRegressor:
        """Return a fresh one."""
        return quick_network()


class TestResidualNetworkRegressor(EnergyContract):
    """The experiment's network that corrects power alone."""

    def make_estimator(self) -> FlopRegressor:
        """Return a fresh one."""
        return quick_network(is_residual=True)


class TestPipeSumRegressor(PipeContract):
    """Pipe cycles as they are."""

    scales_with_truth = False

    def make_estimator(self) -> FlopRegressor:
        """Return a fresh one."""
        return PipeSumRegressor()


class TestCalibratedPipeRegressor(PipeContract):
    """One constant a chip."""

    def make_estimator(self) -> FlopRegressor:
        """Return a fresh one."""
        return CalibratedPipeRegressor()


class TestFusedRegressor(EstimatorContract):
    """All signals, runs of known shape, executed FLOP."""

    def make_estimator(self) -> FlopRegressor:
        """Return a fresh one."""
        return FusedRegressor()

    def known_runs(self) -> KnownRuns:
        """Return all columns of simulated runs, and what they were made of."""
        runs = simulated_runs(N_RUNS)
        return KnownRuns(runs.X, runs.executed_flop, runs.components)


class TestFusedAlgorithmicRegressor(TestFusedRegressor):
    """The same for algorithmic FLOP."""

    def make_estimator(self) -> FlopRegressor:
        """Return a fresh one."""
        return FusedRegressor(is_algorithmic=True, blend_ratio=1.0)

    def known_runs(self) -> KnownRuns:
        """Return all columns of simulated runs, and what they were made of."""
        runs = simulated_runs(N_RUNS)
        return KnownRuns(runs.X, runs.algorithmic_flop, runs.components)


class TestFusedRegressorWithoutShapes(TestFusedRegressor):
    """Without runs of known shape only the constant is left."""

    def known_runs(self) -> KnownRuns:
        """Return all columns, and no components."""
        return super().known_runs()._replace(components=None)
