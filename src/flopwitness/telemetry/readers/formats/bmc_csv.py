"""A board management controller's log: power of the whole node, and temperatures of its GPUs.

``timestamp,phase,sys_power_w,gpu0_bmc_temp_c,...``: epoch seconds, watts, degrees Celsius, a row every 2 s. A
controller that cannot measure answers 0, and a node that answers draws more.

Source: home-made loggers over IPMI and Redfish; mrlhansen/idrac_exporter, issue 116, for the zeros.
"""

import re
from collections.abc import Iterator

import numpy as np

from flopwitness.telemetry.readers.clocks import seconds_to_ns
from flopwitness.telemetry.readers.columns import channels_of, keys_of, note_columns
from flopwitness.telemetry.readers.fields import Field, plain
from flopwitness.telemetry.readers.header import header_of
from flopwitness.telemetry.readers.reading import NODE_POWER, Context, Format, Head, Readings
from flopwitness.telemetry.readers.tables import Layout, tables

TEMPERATURE = re.compile(r"^gpu(\d{1,3})_bmc_temp_c$")
SYSTEM = "sys_power_w"
EXPECTED = ("timestamp", SYSTEM)
SYSTEM_POWER = Field("node_power_watts", blanks=(0.0,))


def claims(head: Head) -> bool:
    """Say whether a head is a header with a node's power or a GPU's temperature by its controller."""
    names = head.header()
    return "timestamp" in names and any(name == SYSTEM or TEMPERATURE.match(name) for name in names)


def parse(context: Context) -> Iterator[Readings]:
    """Yield the node's readings, then those of each GPU, block by block."""
    names = header_of(context)
    gpus = {name: match[1] for name in names if (match := TEMPERATURE.match(name))}
    note_columns(context, names, dict.fromkeys((*EXPECTED, "phase", *gpus)), EXPECTED)
    context.notes.say(NODE_POWER)
    layout = Layout(names, wanted={*EXPECTED, *gpus})
    node = context.device("node")
    devices = {name: context.device(number) for name, number in gpus.items()}
    for table in tables(context, layout):
        stamps = seconds_to_ns(table.numbers("timestamp").values)
        keys = keys_of(context, table, index=np.zeros(len(table), np.int64), time_ns=stamps)
        if not len(keys.index):
            continue
        for device, name, field in (
            (node, SYSTEM, SYSTEM_POWER),
            *((device, name, plain("temperature_celsius")) for name, device in devices.items()),
        ):
            channels = channels_of(context, table, {name: field}, keys.keep)
            if channels:
                yield Readings({0: device}, keys.index, keys.time_ns, channels)


FORMAT = Format(name="bmc-csv", title="node power log of a management controller", claims=claims, parse=parse)
"""Registered in ``flopwitness.telemetry.readers.known``."""
