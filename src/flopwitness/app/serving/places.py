"""Where a server listens, and by which names it may be called."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Self

from flopwitness.core.errors import BadInputError

DEFAULT_LISTEN = "127.0.0.1:9464"
"""Loopback; the port is the one that OpenTelemetry's exporters of metrics for Prometheus use."""

MAX_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Place:
    """An address to listen at.

    Attributes
    ----------
    host : str
        An IP address, or ``localhost``.
    port : int
        0 to 65535; 0 takes a free one.
    names : frozenset of str
        Names that clients may say in the Host header, lower case. IP addresses always may: who rebinds a
        name of theirs to our address has the browser send the name.
    """

    host: str
    port: int
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, listen: str, *, names: Sequence[str] = (), is_meant: bool = False) -> Self:
        """Read ``HOST:PORT``.

        Parameters
        ----------
        listen : str
            ``127.0.0.1:8080``, ``[::1]:0``, ``localhost:9464``.
        names : sequence of str
            More names that clients may use.
        is_meant : bool
            Whether listening beyond loopback is meant.

        Raises
        ------
        BadInputError
            When it is no such address, or goes beyond loopback without being meant.

        Examples
        --------
        >>> Place.of("[::1]:8080").host
        '::1'
        """
        host, _, port = listen.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (host and port.isascii() and port.isdigit() and int(port) <= MAX_PORT and _is_known(host)):
            raise BadInputError("--listen", "", expected="IP:PORT or localhost:PORT", got=repr(listen))
        if not is_meant and not is_loopback(host):
            raise BadInputError(
                "--listen",
                "",
                expected="a loopback address, or --token-file FILE beside it: others can connect there",
                got=repr(listen),
            )
        own = () if is_loopback(host) else (socket.gethostname(), socket.getfqdn())
        return cls(host, int(port), frozenset(name.lower() for name in ("localhost", *own, *names)))

    @property
    def url(self) -> str:
        """What to open in a browser, with a slash at the end."""
        host = "localhost" if self.host == "localhost" else ip_address(self.host)
        if host != "localhost" and ip_address(self.host).is_unspecified:
            host = ip_address("127.0.0.1")
        return f"http://{f'[{host}]' if ':' in str(host) else host}:{self.port}/"

    def at_port(self, port: int) -> Self:
        """Return the place with the port that was given to us."""
        return replace(self, port=port)

    def is_called(self, host: str) -> bool:
        """Say whether a Host header names this place.

        Examples
        --------
        >>> place = Place.of("127.0.0.1:80")
        >>> [place.is_called(host) for host in ("127.0.0.1:80", "localhost", "[::1]:80", "evil.example")]
        [True, True, True, False]
        """
        name = host.lower()
        if name.startswith("["):
            name = name[1:].partition("]")[0]
        elif name.count(":") == 1:
            name = name.partition(":")[0]
        return name in self.names or _is_address(name)

    def socket(self) -> socket.socket:
        """Return a socket that is bound here.

        Raises
        ------
        BadInputError
            When the address is taken or not ours.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((self.host, self.port))
        except OSError as error:
            bound.close()
            got = error.strerror or type(error).__name__
            raise BadInputError(
                f"{self.host}:{self.port}", "", expected="a free address of this machine", got=got
            ) from None
        return bound


def is_loopback(host: str) -> bool:
    """Say whether only this machine can connect to a host.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("localhost")
    (True, False, True)
    """
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def _is_known(host: str) -> bool:
    return host == "localhost" or _is_address(host)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
