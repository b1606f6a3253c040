"""What the world, and every interchangeable part, must offer. Each port has a contract class in the tests."""

from collections.abc import Iterator
from typing import Protocol, Self, runtime_checkable

from numpy.typing import ArrayLike, NDArray

from flopwitness.core.account import Account
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.core.verdict import Verdict


@runtime_checkable
class Sampler(Protocol):
    """Asks hardware; a device that did not answer is absent, not zero."""

    def sample(self) -> tuple[Trace, ...]:
        """Return one Trace of one sample for each device that answered."""
        ...

    def close(self) -> None:
        """Let go of the hardware; may be called twice."""
        ...


@runtime_checkable
class Reader(Protocol):
    """Reads what somebody recorded; units are converted here, a blank becomes NaN."""

    def read(self) -> Iterator[Trace]:
        """Yield pieces; those of one device come in time order."""
        ...


@runtime_checkable
class Detector(Protocol):
    """Is fed pieces, answers with the sessions that they end."""

    def feed(self, piece: Trace) -> tuple[Session, ...]:
        """Take the next samples of one device; return the sessions that they end."""
        ...

    def close(self) -> tuple[Session, ...]:
        """End what is still open and return it."""
        ...


@runtime_checkable
class Estimator(Protocol):
    """Learns from sessions of known FLOP, as scikit-learn's regressors do."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from features of shape (n_sessions, n_features) and true FLOP of shape (n_sessions,)."""
        ...

    def predict(self, X: ArrayLike) -> NDArray:  # type: ignore[type-arg]
        """Return points, shape (n_sessions,)."""
        ...

    def predict_interval(self, X: ArrayLike) -> NDArray:  # type: ignore[type-arg]
        """Return low and high, shape (n_sessions, 2); the point lies between them."""
        ...


@runtime_checkable
class RecordingStore(Protocol):
    """Keeps recordings under names; what is half-written is not there."""

    def write(self, name: str, recording: Recording) -> None:
        """Keep a recording; an existing name is refused."""
        ...

    def read(self, name: str) -> Recording:
        """Return what was written, bit for bit."""
        ...

    def names(self) -> tuple[str, ...]:
        """Return the names that can be read, sorted."""
        ...


@runtime_checkable
class Policy(Protocol):
    """Weighs an account; no evidence is INCONCLUSIVE."""

    def judge(self, account: Account) -> Verdict:
        """Return a verdict with its reasons."""
        ...


@runtime_checkable
class Signer(Protocol):
    """Signs bytes; one changed bit fails the check."""

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""
        ...
