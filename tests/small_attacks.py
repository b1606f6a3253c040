"""Attacks so small that a processor runs them: the same hyper-parameters, on a tiny decoder."""

from dataclasses import replace

from flopwitness.core.workload import WorkloadConfig

TINY = {"d_model": 64, "d_ff": 128, "vocabulary": 101, "pause_seconds": 0.02, "decoy_size": 16}
MAX_SEQ_LEN, MAX_BATCH, PREHEAT_SECONDS = 16, 4, 0.02


def small(config: WorkloadConfig) -> WorkloadConfig:
    """Return a configuration with all that costs time made small."""
    parameters = dict(config.parameters) | TINY
    parameters["seq_len"] = min(int(parameters["seq_len"]), MAX_SEQ_LEN)
    parameters["batch"] = min(int(parameters["batch"]), MAX_BATCH)
    if "preheat_seconds" in parameters:
        parameters["preheat_seconds"] = PREHEAT_SECONDS
    return replace(config, parameters=parameters)
