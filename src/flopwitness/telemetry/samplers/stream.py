"""A program beside us that prints its readings line by line, as a sampler."""

import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.telemetry.samplers.clock import SteadyClock
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError, one_sample

ANSWER_SECONDS = 10.0
"""How long a program that answers once may take."""

STOP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Reading:
    """What a line said of one device: values by channel, in base units, NaN where it was blank."""

    device: Device
    values: Mapping[str, float]


Parser = Callable[[str], Iterable[Reading]]


class StreamSampler:
    """Keep a program running and answer with the newest line of each device.

    Parameters
    ----------
    source : str
        Name of the source.
    command : sequence of str
        The program and its arguments; it prints for ever.
    parse : callable
        Turns a line into readings; none for a header or a line that cannot be read.
    devices : tuple of Device
        What it is expected to speak of.
    patience_seconds : float
        How long a round waits for a new line of each device, > 0.

    Attributes
    ----------
    driver : str
        Empty: these programs are not asked for it.
    lost : mapping of str to str
        Devices that gave no new line in the last round, with the reason, by UUID.

    Notes
    -----
    The program sets the pace: a reading is given out once, and stamped when its line came.

    Raises
    ------
    SourceUnavailableError
        When the program cannot be started.
    """

    def __init__(
        self,
        source: str,
        command: Sequence[str],
        *,
        parse: Parser,
        devices: tuple[Device, ...],
        patience_seconds: float = 2.0,
    ) -> None:
        self.source = source
        self.driver = ""
        self.devices = devices
        self.lost: Mapping[str, str] = {}
        self._patience_seconds = patience_seconds
        self._parse = parse
        self._clock = SteadyClock()
        self._fresh: dict[str, tuple[int, Reading]] = {}
        self._last_ns: dict[str, int] = {}
        self._ended = False
        self._news = threading.Condition()
        self._process = _started(source, command)
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def sample(self) -> tuple[Trace, ...]:
        """Return the newest sample of each device that gave one since the last round."""
        expected = {device.uuid for device in self.devices}
        with self._news:
            self._news.wait_for(
                lambda: self._ended or expected <= self._fresh.keys(), timeout=self._patience_seconds
            )
            found, self._fresh = self._fresh, {}
        program = self._process.args[0] if isinstance(self._process.args, list) else self.source
        reason = f"{program} ended" if self._ended else f"no line within {self._patience_seconds:g} s"
        self.lost = dict.fromkeys(sorted(expected - found.keys()), reason)
        return tuple(one_sample(reading.device, at_ns, reading.values) for at_ns, reading in found.values())

    def close(self) -> None:
        """Stop the program; may be called twice."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._thread.join(STOP_SECONDS)
        if self._process.stdout is not None and not self._thread.is_alive():
            self._process.stdout.close()

    def _follow(self) -> None:
        for line in self._process.stdout or ():
            for reading in self._parse(line.rstrip("\n")):
                self._take(reading)
        with self._news:
            self._ended = True
            self._news.notify()

    def _take(self, reading: Reading) -> None:
        uuid = reading.device.uuid
        with self._news:
            now_ns = max(self._clock(), self._last_ns.get(uuid, 0) + 1)
            self._last_ns[uuid] = now_ns
            self._fresh[uuid] = (now_ns, reading)
            self._news.notify()


def answer_of(source: str, command: Sequence[str]) -> str:
    """Return what a program prints when it is asked once.

    Raises
    ------
    SourceUnavailableError
        When it is not there, fails, or takes longer than ``ANSWER_SECONDS``.
    """
    try:
        done = subprocess.run(  # noqa: S603  the program is one of ours to call, without a shell
            command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceUnavailableError(source, _why(command, error)) from None
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())[:200]
        raise SourceUnavailableError(source, f"{command[0]} failed with {done.returncode}: {said}")
    return done.stdout


def _started(source: str, command: Sequence[str]) -> "subprocess.Popen[str]":
    try:
        return subprocess.Popen(  # noqa: S603  as above
            list(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
        )
    except OSError as error:
        raise SourceUnavailableError(source, _why(command, error)) from None


def _why(command: Sequence[str], error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no program {command[0]} here"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"{command[0]} gave no answer within {ANSWER_SECONDS:g} s"
    return f"{command[0]} cannot be started: {error}"
