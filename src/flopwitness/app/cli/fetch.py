"""``flopwitness fetch``: GPU telemetry that Prometheus or VictoriaMetrics kept, as our Parquet."""

import time
from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.output import print_findings, talk
from flopwitness.app.moments import moment_ns
from flopwitness.core.errors import BadInputError
from flopwitness.storage.recordings import read_summary
from flopwitness.telemetry.prometheus.client import Api, PrometheusClient
from flopwitness.telemetry.prometheus.fetching import Access
from flopwitness.telemetry.prometheus.following import LAG_SECONDS

Url = Annotated[
    str,
    typer.Argument(
        metavar="URL", help="Where the API is, such as http://localhost:9090.", show_default=False
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output", help="The Parquet file; one that exists goes on where it ends.", show_default=False
    ),
]
Since = Annotated[
    str, typer.Option("--since", help="First instant of a new file: ISO 8601 with zone, or 6h, 2d ago.")
]
Until = Annotated[str, typer.Option("--until", help="Last instant, as --since.")]
TokenFile = Annotated[
    Path | None, typer.Option("--token-file", help="File with a bearer token; it is never shown.")
]
Match = Annotated[str, typer.Option("--match", help="More label matchers, such as 'hostname=\"n1\"'.")]
Kind = Annotated[Api, typer.Option("--api", help="How to ask; VictoriaMetrics takes either.")]


def run(
    url: Url,
    output: Output,
    since: Since = "1h",
    until: Until = "now",
    token_file: TokenFile = None,
    match: Match = "",
    api: Kind = Api.PROMETHEUS,
) -> int:
    """Fetch raw samples of all GPU series: dcgm-exporter's under old and new names, and our own."""
    from flopwitness.app.fetching import fetch_into, nothing_kept, token_of  # noqa: PLC0415  slow, seldom

    now_ns = time.time_ns()
    start_ns = moment_ns(since, now_ns=now_ns, option="--since")
    stop_ns = moment_ns(until, now_ns=now_ns, option="--until")
    stop_ns = min(stop_ns, now_ns - round(LAG_SECONDS * 1e9))
    if stop_ns <= start_ns:
        raise BadInputError("--until", "", expected="an instant after --since", got=repr(until))
    client = PrometheusClient(Access(url, token_of(token_file)), api=api, match=match)
    n_new = fetch_into(output, client, start_ns, stop_ns)
    if not n_new and not output.exists():
        raise nothing_kept(client)
    held = read_summary(output)
    talk().print(f"{output}: {len(held.devices)} GPUs, {n_new:,} new samples", soft_wrap=True, markup=False)
    print_findings(held.findings)
    return 0
