"""Every option that a configuration file can hold, in one table: what it is, and which commands read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

Value = str | float | bool
"""What an option can be set to."""


class Kind(StrEnum):
    """What a value is."""

    PATH = "path"
    SECRET = "path of a secret"  # noqa: S105  the kind of a value, no secret
    TEXT = "text"
    NUMBER = "number"
    FLAG = "true or false"
    CHOICE = "choice"
    ADDRESS = "host:port"
    URL = "http(s) URL"


@dataclass(frozen=True, slots=True)
class Option:
    """One option, called in a file as on the command line, with ``_`` for ``-``.

    Attributes
    ----------
    name : str
        Key in the file.
    kind : Kind
        What its value is.
    commands : tuple of str
        Who reads it.
    summary : str
        One line that says what it does.
    example : str, float or bool
        A value that fits.
    default : str, float, bool or None
        In force where nobody says otherwise; None where it is then off.
    unit : str
        Of a number.
    choices : tuple of str
        All that a choice can be.
    least : float
        A number is at least this.
    is_above : bool
        Whether a number must be above ``least``.
    other_defaults : tuple of pairs
        Commands where the default is another, and which.
    """

    name: str
    kind: Kind
    commands: tuple[str, ...]
    summary: str
    example: Value
    default: Value | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    least: float = 0.0
    is_above: bool = False
    other_defaults: tuple[tuple[str, Value], ...] = ()

    def default_for(self, command: str) -> Value | None:
        """Return what is in force for a command where nobody says otherwise."""
        return dict(self.other_defaults).get(command, self.default)

    @property
    def expected(self) -> str:
        """Return what its value has to be, in words."""
        if self.kind is Kind.CHOICE:
            return f"one of {', '.join(map(repr, self.choices))}"
        if self.kind is Kind.NUMBER:
            return f"a number {'above' if self.is_above else 'of at least'} {self.least:g} ({self.unit})"
        return EXPECTED[self.kind]


EXPECTED: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.PATH: "the path of a file or folder, a text",
        Kind.SECRET: "the path of a file that holds the secret, a text",
        Kind.TEXT: "a text that is not empty",
        Kind.FLAG: "true or false",
        Kind.ADDRESS: "a text such as '127.0.0.1:9464', port 0 to 65535",
        Kind.URL: "a text such as 'http://localhost:4318'",
    }
)
"""What a value of each kind has to be, where that does not depend on the option."""

WATCH, SERVE, RECORD = "watch", "serve", "record"
ALL = (WATCH, SERVE, RECORD)

_TABLE = (
    Option(
        "interval",
        Kind.NUMBER,
        ALL,
        "From sample to sample; 'watch' takes 0.1 where not given, 0.5 for the experiment's detector.",
        0.1,
        unit="seconds",
        is_above=True,
        other_defaults=((SERVE, 0.1), (RECORD, 0.1)),
    ),
    Option(
        "detector",
        Kind.CHOICE,
        (WATCH,),
        "How workloads are found; 'experiment' is the published polling rule.",
        "activity",
        "activity",
        choices=("activity", "experiment"),
    ),
    Option(
        "target",
        Kind.CHOICE,
        (WATCH, SERVE),
        "Which FLOP are shown: as PyTorch's counter counts, or as the hardware did.",
        "algorithmic",
        "algorithmic",
        choices=("algorithmic", "executed"),
    ),
    Option(
        "chip",
        Kind.TEXT,
        (WATCH, SERVE),
        "Chip of a recording that does not name it.",
        "H200-SXM",
        "H200-SXM",
    ),
    Option(
        "calibration",
        Kind.PATH,
        (WATCH, SERVE),
        "Calibration file; the one shipped for the chip where not given.",
        "/etc/flopwitness/calibration.json",
    ),
    Option(
        "journal",
        Kind.PATH,
        (WATCH,),
        "File that finished workloads are appended to, one JSON object a line.",
        "/var/lib/flopwitness/workloads.jsonl",
    ),
    Option(
        "record",
        Kind.PATH,
        (WATCH,),
        "Folder that the samples are recorded into, a folder a run.",
        "/var/lib/flopwitness/recordings",
    ),
    Option(
        "ledger",
        Kind.PATH,
        (WATCH,),
        "Signed ledger that is appended to; made where there is none. Needs ledger_key.",
        "/var/lib/flopwitness/ledger",
    ),
    Option(
        "ledger_key",
        Kind.SECRET,
        (WATCH,),
        "Private key of the ledger, for its owner alone to read.",
        "/etc/flopwitness/ledger.key",
    ),
    Option(
        "jobs",
        Kind.PATH,
        (WATCH,),
        "Folder in which a scheduler says which job holds which GPU.",
        "/var/lib/flopwitness/jobs",
    ),
    Option(
        "otlp",
        Kind.URL,
        (WATCH,),
        "OpenTelemetry collector (OTLP over HTTP) that metrics and workloads are sent to.",
        "http://localhost:4318",
    ),
    Option(
        "listen",
        Kind.ADDRESS,
        (WATCH, SERVE),
        "Address of the live page and of /metrics; beyond loopback it needs token_file.",
        "127.0.0.1:9464",
        other_defaults=((SERVE, "127.0.0.1:9464"),),
    ),
    Option(
        "token_file",
        Kind.SECRET,
        (WATCH, SERVE),
        "File with the token that readers of the page must know.",
        "/etc/flopwitness/token",
    ),
    Option("replay", Kind.PATH, (WATCH, SERVE), "Recording that is watched instead of this machine.", "run"),
    Option(
        "speed",
        Kind.NUMBER,
        (WATCH, SERVE),
        "Speed of a replay as a multiple of real time; 0 is as fast as possible.",
        0.0,
        0.0,
        unit="times real time",
        other_defaults=((SERVE, 1.0),),
    ),
    Option(
        "once", Kind.FLAG, (WATCH,), "Stop after the first finished workload.", example=False, default=False
    ),
    Option(
        "json", Kind.FLAG, (WATCH,), "Print JSON instead of lines for people.", example=False, default=False
    ),
    Option(
        "output",
        Kind.PATH,
        (RECORD,),
        "Folder of the recording that is made.",
        "/var/lib/flopwitness/recording",
    ),
    Option(
        "duration",
        Kind.NUMBER,
        (RECORD,),
        "How long to record; until a signal where not given.",
        3600.0,
        unit="seconds",
        is_above=True,
    ),
)

OPTIONS: Mapping[str, Option] = MappingProxyType({option.name: option for option in _TABLE})
"""Every option by name, in the order in which it is shown."""
