"""Named plans: which configurations a sweep runs, in an order that stays balanced wherever it is cut."""

from collections.abc import Iterable, Mapping

from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab import classes
from flopwitness.lab.benign import BENIGN
from flopwitness.lab.classes_second import SECOND
from flopwitness.lab.formats import DECODERS, PRODUCTS
from flopwitness.redteam.attacks.twins import LARGE as MIDDLE
from flopwitness.redteam.catalogue import ATTACKS, SECOND_ATTACKS, twins

Parameters = dict[str, int | float | str | bool]

DECODER: Parameters = dict(MIDDLE.parameters)
"""The middle of the benign sweep, which every other plan varies."""

MEDIUM: Parameters = {"d_model": 1024, "n_layers": 24, "n_heads": 16, "d_ff": 4096, "batch": 16}
LARGE: Parameters = {"d_model": 4096, "n_layers": 6, "n_heads": 32, "d_ff": 16384}
EXPERTS: Parameters = {"d_model": 1024, "n_layers": 8, "n_heads": 16, "d_ff": 4096, "batch": 16}

EXTRA: Mapping[str, tuple[tuple[str, Parameters], ...]] = {
    "fsdp": (
        ("fsdp-2048-12-b16", {"parallel": "fsdp", "batch": 16}),
        ("fsdp-4096-6-b8", LARGE | {"parallel": "fsdp"}),
    ),
    "accumulation": (
        ("accumulate-2048-12-x4", {"accumulation": 4, "batch": 4}),
        ("accumulate-1024-24-x2", MEDIUM | {"accumulation": 2}),
    ),
    "recompute": (
        ("recompute-2048-12-b16", {"recompute": True, "batch": 16}),
        ("recompute-1024-24-s4096", MEDIUM | {"recompute": True, "seq_len": 4096, "batch": 8}),
    ),
    "grouped-queries": (
        ("gqa-2048-12-kv4", {"n_kv_heads": 4}),
        ("gqa-4096-6-kv8", LARGE | {"n_kv_heads": 8}),
    ),
    "experts": (
        ("moe-1024-8-e8-k2", EXPERTS | {"n_experts": 8, "experts_per_token": 2}),
        ("moe-1024-8-e4-k1", EXPERTS | {"n_experts": 4, "experts_per_token": 1}),
    ),
    "lora": (
        ("lora-2048-12-r16", {"lora_rank": 16}),
        ("lora-4096-6-r8", LARGE | {"lora_rank": 8}),
    ),
    "vision": (
        ("vit-768-12-b384", {"kind": "vit", "d_model": 768, "n_heads": 12, "d_ff": 3072, "batch": 384}),
        ("vit-1024-24-b192", MEDIUM | {"kind": "vit", "batch": 192}),
        ("resnet-50-b256", {"kind": "resnet", "batch": 256}),
        ("resnet-50-b512", {"kind": "resnet", "batch": 512}),
    ),
    "precision": (
        ("fp16-2048-12-b8", {"precision": "fp16"}),
        ("fp16-1024-24-b16", MEDIUM | {"precision": "fp16"}),
        ("tf32-2048-12-b8", {"precision": "tf32"}),
        ("fp32-1024-12-b8", MEDIUM | {"precision": "fp32", "n_layers": 12, "batch": 8}),
        ("fp8-2048-12-b16", {"precision": "fp8", "batch": 16}),
        ("fp8-4096-6-b8", LARGE | {"precision": "fp8"}),
    ),
}
COMPILED: Mapping[str, tuple[tuple[str, Parameters], ...]] = {
    "compile": (
        ("compile-2048-12-b16", {"compile": True, "batch": 16}),
        ("compile-1024-24-b16", MEDIUM | {"compile": True}),
    ),
}
"""Last in their plan: compiling takes longest."""

INFERENCE: Mapping[str, tuple[tuple[str, Parameters], ...]] = {
    "prefill": (
        ("prefill-2048-12-s1024-b32", {"kind": "prefill", "batch": 32}),
        ("prefill-4096-6-s2048-b8", LARGE | {"kind": "prefill", "seq_len": 2048}),
        ("prefill-1024-24-s1024-b32", MEDIUM | {"kind": "prefill", "batch": 32}),
        (
            "prefill-4096-6-kv8-s4096-b4",
            LARGE | {"kind": "prefill", "n_kv_heads": 8, "seq_len": 4096, "batch": 4},
        ),
        ("prefill-2048-12-s8192-b4", {"kind": "prefill", "seq_len": 8192, "batch": 4}),
    ),
    "decode": (
        ("decode-2048-12-s1024-b64", {"kind": "decode", "batch": 64}),
        ("decode-4096-6-s2048-b64", LARGE | {"kind": "decode", "seq_len": 2048, "batch": 64}),
        (
            "decode-4096-6-kv8-s2048-b256",
            LARGE | {"kind": "decode", "n_kv_heads": 8, "seq_len": 2048, "batch": 256},
        ),
        ("decode-2048-12-s4096-b32", {"kind": "decode", "seq_len": 4096, "batch": 32}),
        ("decode-1024-24-s1024-b256", MEDIUM | {"kind": "decode", "batch": 256}),
    ),
}
OTHER: Mapping[str, tuple[tuple[str, Parameters], ...]] = {
    "gemm-fp64": (
        ("gemm-fp64-4096", {"kind": "gemm-fp64", "size": 4096, "batch": 8}),
        ("gemm-fp64-8192", {"kind": "gemm-fp64", "size": 8192, "batch": 1}),
    ),
    "copy": (
        ("copy-1gib", {"kind": "copy", "size": 2**28, "batch": 16}),
        ("copy-8gib", {"kind": "copy", "size": 2**31, "batch": 2}),
    ),
    "fft": (
        ("fft-2-20", {"kind": "fft", "size": 2**20, "batch": 256}),
        ("fft-2-26", {"kind": "fft", "size": 2**26, "batch": 8}),
    ),
}

TINY: Parameters = {"d_model": 32, "n_heads": 4, "d_ff": 64, "seq_len": 16, "batch": 2, "vocabulary": 101}
"""For a processor."""


def named_plan(name: str) -> tuple[WorkloadConfig, ...]:
    """Return the configurations of a plan.

    Raises
    ------
    BadInputError
        When there is no such plan.

    Examples
    --------
    >>> len(named_plan("benign")), named_plan("tiny")[0].name
    (96, 'tiny-1')
    """
    plans = {
        "benign": _benign,
        "extra": _extra,
        "inference": _inference,
        "non-ai": _other,
        "attacks": _attacks,
        "attacks-second": _second_attacks,
        "formats": _formats,
        "classes": _classes,
        "classes-second": _classes_second,
        "tiny": _tiny,
    }
    if name not in plans:
        raise BadInputError("plan", "", expected=f"one of {', '.join(plans)}", got=repr(name))
    return plans[name]()


def interleaved(families: Iterable[Iterable[WorkloadConfig]]) -> tuple[WorkloadConfig, ...]:
    """Return the configurations so that any beginning holds each family in about its share."""
    placed = [
        ((index + 0.5) / len(members), member)
        for members in map(tuple, families)
        for index, member in enumerate(members)
    ]
    return tuple(member for _, member in sorted(placed, key=lambda pair: pair[0]))


def _benign() -> tuple[WorkloadConfig, ...]:
    names = ("d_model", "n_layers", "n_heads", "d_ff", "seq_len", "batch")
    return interleaved(
        [
            WorkloadConfig(
                name,
                family,
                DECODER
                | dict(zip(names, numbers, strict=True))
                | {"optimizer": "sgd" if family == "optimizer" else "adamw"},
            )
            for name, *numbers in rows
        ]
        for family, rows in BENIGN.items()
    )


def _extra() -> tuple[WorkloadConfig, ...]:
    return interleaved(_varied(EXTRA)) + interleaved(_varied(COMPILED))


def _inference() -> tuple[WorkloadConfig, ...]:
    return interleaved(
        [WorkloadConfig(one.name, one.family, _based(dict(one.parameters))) for one in family]
        for family in _varied(INFERENCE)
    )


def _other() -> tuple[WorkloadConfig, ...]:
    return interleaved(
        [WorkloadConfig(name, family, parameters) for name, parameters in members]
        for family, members in OTHER.items()
    )


def _attacks() -> tuple[WorkloadConfig, ...]:
    # Twins first: wherever the time ends, what was run has its benign run beside it.
    return twins() + interleaved(attack.configurations for attack in ATTACKS.values())


def _second_attacks() -> tuple[WorkloadConfig, ...]:
    return twins(SECOND_ATTACKS) + interleaved(attack.configurations for attack in SECOND_ATTACKS.values())


def _formats() -> tuple[WorkloadConfig, ...]:
    return interleaved(
        [
            *(
                WorkloadConfig(
                    f"gemm-{precision}-{size}",
                    f"format-{precision}",
                    {"kind": "gemm", "precision": precision, "size": size, "batch": batch},
                )
                for size, batch in PRODUCTS[precision]
            ),
            *(
                WorkloadConfig(name, f"format-{precision}", DECODER | parameters | {"precision": precision})
                for name, parameters in DECODERS.get(precision, ())
            ),
        ]
        for precision in PRODUCTS
    )


def _classes() -> tuple[WorkloadConfig, ...]:
    return _interleaved_fairly({**classes.TRAINING, **classes.INFERENCE, **classes.OTHER})


def _classes_second() -> tuple[WorkloadConfig, ...]:
    return _interleaved_fairly(SECOND)


def _interleaved_fairly(families: classes.Families) -> tuple[WorkloadConfig, ...]:
    """Return decoders on the common base, everything else with its own parameters alone."""
    return interleaved(
        [WorkloadConfig(name, family, _based(parameters)) for name, parameters in members]
        for family, members in families.items()
    )


def _based(parameters: Parameters) -> Parameters:
    if "size" in parameters:
        return parameters
    whole = DECODER | parameters
    if str(whole["kind"]) in ("train", "vit", "resnet"):
        return whole
    return {name: value for name, value in whole.items() if name != "optimizer"}


def _tiny() -> tuple[WorkloadConfig, ...]:
    return tuple(
        WorkloadConfig(f"tiny-{n_layers}", "width-depth", DECODER | TINY | {"n_layers": n_layers})
        for n_layers in (1, 2, 3)
    )


def _varied(
    families: Mapping[str, tuple[tuple[str, Parameters], ...]],
) -> list[list[WorkloadConfig]]:
    return [
        [WorkloadConfig(name, family, DECODER | parameters) for name, parameters in members]
        for family, members in families.items()
    ]
