"""Every file format that can be read, and how a file's own is told: by its content, never by its name."""

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.formats import (
    acme_trace,
    amd_smi_csv,
    bmc_csv,
    carbontracker,
    dcgm_csv,
    dcgmi_dmon,
    exporter_text,
    gpu_parquet,
    home_tables,
    infiniband_csv,
    ipmi_dcmi,
    jobstats,
    json_arrays,
    json_lines,
    mlperf_log,
    mlperf_power,
    nvidia_smi_csv,
    nvidia_smi_dmon,
    nvidia_smi_pmon,
    nvidia_smi_xml,
    profiler_trace,
    project_csv,
    prometheus_csv,
    prometheus_json,
    ptdaemon,
    rail_tsv,
    redfish_json,
    rocm_smi_text,
    slurm_jobs,
    tegrastats,
    victoria_lines,
    wandb_binary,
    wandb_csv,
    wandb_events,
    wandb_export,
    wandb_history,
    zeus_energy_csv,
)
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.reading import Format, Head

FORMATS: tuple[Format, ...] = (
    nvidia_smi_csv.FORMAT,
    json_lines.FORMAT,
    json_arrays.FORMAT,
    gpu_parquet.FORMAT,
    project_csv.FORMAT,
    nvidia_smi_dmon.FORMAT,
    nvidia_smi_pmon.FORMAT,
    nvidia_smi_xml.FORMAT,
    dcgmi_dmon.FORMAT,
    *dcgm_csv.FORMATS,
    *home_tables.FORMATS,
    acme_trace.FORMAT,
    amd_smi_csv.FORMAT,
    bmc_csv.FORMAT,
    carbontracker.FORMAT,
    infiniband_csv.FORMAT,
    ipmi_dcmi.FORMAT,
    jobstats.FORMAT,
    profiler_trace.FORMAT,
    redfish_json.FORMAT,
    rocm_smi_text.FORMAT,
    slurm_jobs.FORMAT,
    zeus_energy_csv.FORMAT,
    exporter_text.FORMAT,
    prometheus_csv.FORMAT,
    prometheus_json.FORMAT,
    victoria_lines.FORMAT,
    mlperf_power.FORMAT,
    mlperf_log.FORMAT,
    ptdaemon.FORMAT,
    tegrastats.FORMAT,
    rail_tsv.FORMAT,
    wandb_events.FORMAT,
    wandb_history.FORMAT,
    wandb_csv.FORMAT,
    wandb_export.FORMAT,
    wandb_binary.FORMAT,
)
"""In the order in which they are asked; at most one claims a head, which a test holds."""


def recognised(given: Input) -> Format:
    """Return the format of a file.

    Raises
    ------
    BadInputError
        When it cannot be read, is empty, or no format claims it: says what was seen.
    """
    data = given.head()
    head = Head.of(data)
    if not data.strip(b" \t\r\n\0"):
        raise BadInputError(given.path, "", expected="a recording", got="an empty file")
    found = next((form for form in FORMATS if form.claims(head)), None)
    if found is None:
        raise BadInputError(given.path, "", expected="a format that is known", got=described(head))
    return found


def described(head: Head) -> str:
    r"""Say in a few words what a file's first bytes look like.

    Examples
    --------
    >>> described(Head.of(b"a,b,c\n1,2,3\n"))
    "a table with the columns 'a,b,c'"
    """
    if b"\0" in head.data[:4096]:
        return f"binary data that starts with {shown(head.data[:8].hex(' '))}"
    if head.first.startswith(("{", "[")):
        return f"JSON that starts with {shown(head.first)}"
    if head.first.startswith("<"):
        return f"markup that starts with {shown(head.first)}"
    if "," in head.first or "\t" in head.first:
        return f"a table with the columns {shown(head.first)}"
    return f"text that starts with {shown(head.first)}"
