"""Workloads for calibrating formats: matrix products alone, and decoders of shapes that no attack has.

Steps take 10 to 250 ms on an H200.
"""

from collections.abc import Mapping

Parameters = dict[str, int | float | str | bool]

SMALL, LARGE = 4096, 8192

PRODUCTS: Mapping[str, tuple[tuple[int, int], ...]] = {
    "fp8": ((SMALL, 128), (LARGE, 32)),
    "tf32": ((SMALL, 32), (LARGE, 8)),
    "fp8-fast": ((SMALL, 128), (LARGE, 32)),
    "int8": ((SMALL, 128), (LARGE, 32)),
    "fp16": ((SMALL, 64), (LARGE, 16)),
    "fp32": ((SMALL, 16), (LARGE, 4)),
    "bf16": ((SMALL, 64), (LARGE, 16)),
}
"""Side of the matrices and products a step, by format."""


def _shape(d_model: int, n_layers: int, *, seq_len: int, batch: int, **more: int) -> Parameters:
    return {
        "d_model": d_model,
        "n_layers": n_layers,
        "n_heads": d_model // 128,
        "d_ff": 4 * d_model,
        "seq_len": seq_len,
        "batch": batch,
        **more,
    }


DECODERS: Mapping[str, tuple[tuple[str, Parameters], ...]] = {
    "fp8": (
        ("fp8-1024-16-s1024-b12", _shape(1024, 16, seq_len=1024, batch=12)),
        ("fp8-1536-12-s2048-b6", _shape(1536, 12, seq_len=2048, batch=6)),
        ("fp8-3072-6-s1024-b8-half", _shape(3072, 6, seq_len=1024, batch=8, precision_layers=3)),
        ("fp8-4096-4-s512-b16", _shape(4096, 4, seq_len=512, batch=16)),
        ("fp8-2048-8-s512-b16", _shape(2048, 8, seq_len=512, batch=16)),
        ("fp8-2560-6-s2048-b4", _shape(2560, 6, seq_len=2048, batch=4)),
        ("fp8-1280-15-s1024-b10-third", _shape(1280, 15, seq_len=1024, batch=10, precision_layers=5)),
    ),
    "fp8-fast": (
        ("fp8-fast-1536-10-s1024-b12", _shape(1536, 10, seq_len=1024, batch=12)),
        ("fp8-fast-3072-5-s2048-b4", _shape(3072, 5, seq_len=2048, batch=4)),
        ("fp8-fast-1024-14-s512-b24", _shape(1024, 14, seq_len=512, batch=24)),
        ("fp8-fast-4096-4-s1024-b8", _shape(4096, 4, seq_len=1024, batch=8)),
        ("fp8-fast-2048-8-s2048-b6-half", _shape(2048, 8, seq_len=2048, batch=6, precision_layers=4)),
    ),
    "tf32": (
        ("tf32-1024-10-s1024-b8", _shape(1024, 10, seq_len=1024, batch=8)),
        ("tf32-1536-8-s2048-b4", _shape(1536, 8, seq_len=2048, batch=4)),
        ("tf32-2560-6-s1024-b8-half", _shape(2560, 6, seq_len=1024, batch=8, precision_layers=3)),
        ("tf32-4096-3-s512-b12", _shape(4096, 3, seq_len=512, batch=12)),
        ("tf32-2048-6-s512-b16", _shape(2048, 6, seq_len=512, batch=16)),
        ("tf32-3072-4-s2048-b4", _shape(3072, 4, seq_len=2048, batch=4)),
        ("tf32-2048-6-s4096-b2", _shape(2048, 6, seq_len=4096, batch=2)),
        ("tf32-1280-12-s1024-b8-third", _shape(1280, 12, seq_len=1024, batch=8, precision_layers=4)),
    ),
    "fp16": (
        ("fp16-1536-12-s1024-b8", _shape(1536, 12, seq_len=1024, batch=8)),
        ("fp16-3072-6-s512-b16", _shape(3072, 6, seq_len=512, batch=16)),
    ),
    "fp32": (
        ("fp32-768-8-s1024-b8", _shape(768, 8, seq_len=1024, batch=8)),
        ("fp32-1536-4-s512-b8", _shape(1536, 4, seq_len=512, batch=8)),
    ),
    "int8": (
        ("int8-1024-14-s1024-b12", _shape(1024, 14, seq_len=1024, batch=12)),
        ("int8-2560-8-s512-b16-half", _shape(2560, 8, seq_len=512, batch=16, precision_layers=4)),
        ("int8-4096-4-s1024-b6", _shape(4096, 4, seq_len=1024, batch=6)),
    ),
}
"""Name and shape, by format; ``half`` has half of its blocks in it, the rest in bf16."""
