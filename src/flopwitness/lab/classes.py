"""What a classifier of work is taught and asked: training, inference and neither, in families, on one GPU.

For fitting and for leaving families out; ``flopwitness.lab.classes_second`` holds other families and shapes,
for one look. Shapes of the attacks are in neither.
"""

from collections.abc import Mapping

Parameters = dict[str, int | float | str | bool]
Families = Mapping[str, tuple[tuple[str, Parameters], ...]]


def shape(d_model: int, n_layers: int, n_heads: int, **more: float | str | bool) -> Parameters:
    """Return a transformer four times as wide in its feed-forward layers, with what else is asked for."""
    plain: Parameters = {"d_model": d_model, "n_layers": n_layers, "n_heads": n_heads, "d_ff": 4 * d_model}
    return plain | more


def named(prefix: str, rows: tuple[tuple[str, Parameters], ...]) -> tuple[tuple[str, Parameters], ...]:
    """Return the members of a family, the prefix before their names."""
    return tuple((f"{prefix}-{name}", parameters) for name, parameters in rows)


TRAINING: Families = {
    "one-width-depth": named(
        "one",
        (
            ("1536-16-b8", shape(1536, 16, 12, batch=8)),
            ("1024-20-b16", shape(1024, 20, 8, batch=16)),
            ("2560-8-b8", shape(2560, 8, 20, batch=8)),
            ("3072-6-b8", shape(3072, 6, 24, batch=8)),
            ("768-24-b32", shape(768, 24, 6, batch=32)),
        ),
    ),
    "one-long": named(
        "one-long",
        (
            ("1536-10-s4096", shape(1536, 10, 12, seq_len=4096, batch=4)),
            ("2560-6-s8192", shape(2560, 6, 20, seq_len=8192, batch=1)),
            ("1024-14-s8192", shape(1024, 14, 8, seq_len=8192, batch=2)),
        ),
    ),
    "one-small-batch": named(
        "one-small",
        (
            ("2048-10-b2", shape(2048, 10, 16, batch=2)),
            ("1536-12-b3", shape(1536, 12, 12, batch=3)),
            ("4096-4-b1", shape(4096, 4, 32, batch=1)),
        ),
    ),
    "one-sgd": named(
        "one-sgd",
        (
            ("2048-10-b8", shape(2048, 10, 16, batch=8, optimizer="sgd")),
            ("1024-18-b16", shape(1024, 18, 8, batch=16, optimizer="sgd")),
        ),
    ),
    "one-accumulation": named(
        "one-accumulate",
        (
            ("1536-12-x4", shape(1536, 12, 12, batch=4, accumulation=4)),
            ("2560-6-x8", shape(2560, 6, 20, batch=2, accumulation=8)),
        ),
    ),
    "one-recompute": named(
        "one-recompute",
        (
            ("1536-16-b16", shape(1536, 16, 12, batch=16, recompute=True)),
            ("3072-6-s2048", shape(3072, 6, 24, batch=4, seq_len=2048, recompute=True)),
        ),
    ),
    "one-experts": named(
        "one-moe",
        (
            ("1536-6-e4-k2", shape(1536, 6, 12, batch=16, n_experts=4, experts_per_token=2)),
            ("1024-8-e8-k1", shape(1024, 8, 8, batch=32, n_experts=8, experts_per_token=1)),
        ),
    ),
    "one-lora": named(
        "one-lora",
        (
            ("1536-16-r8", shape(1536, 16, 12, batch=8, lora_rank=8)),
            ("3072-6-r32", shape(3072, 6, 24, batch=8, lora_rank=32)),
            ("2560-8-r4", shape(2560, 8, 20, batch=4, lora_rank=4)),
        ),
    ),
    "one-vision": named(
        "one",
        (
            ("vit-768-12-b256", shape(768, 12, 12, kind="vit", batch=256)),
            ("vit-1280-16-b96", shape(1280, 16, 16, kind="vit", batch=96)),
            ("resnet-b384", {"kind": "resnet", "batch": 384}),
            ("resnet-b128", {"kind": "resnet", "batch": 128}),
        ),
    ),
    "one-formats": named(
        "one",
        (
            ("fp16-1536-12", shape(1536, 12, 12, batch=8, precision="fp16")),
            ("tf32-1536-12", shape(1536, 12, 12, batch=8, precision="tf32")),
            ("fp8-3072-6", shape(3072, 6, 24, batch=8, precision="fp8")),
            ("fp32-1024-10", shape(1024, 10, 8, batch=8, precision="fp32")),
        ),
    ),
}

INFERENCE: Families = {
    "one-prefill": named(
        "one-prefill",
        (
            ("1536-16-b32", shape(1536, 16, 12, kind="prefill", batch=32)),
            ("2560-8-b16", shape(2560, 8, 20, kind="prefill", batch=16)),
            ("4096-8-b4", shape(4096, 8, 32, kind="prefill", batch=4)),
            ("1024-20-b64", shape(1024, 20, 8, kind="prefill", batch=64)),
            ("3072-8-b1", shape(3072, 8, 24, kind="prefill", batch=1)),
        ),
    ),
    "one-prefill-long": named(
        "one-prefill",
        (
            ("2560-8-s4096-b4", shape(2560, 8, 20, kind="prefill", seq_len=4096, batch=4)),
            ("1536-12-s8192-b2", shape(1536, 12, 12, kind="prefill", seq_len=8192, batch=2)),
            ("4096-4-s16384-b1", shape(4096, 4, 32, kind="prefill", seq_len=16384, batch=1)),
        ),
    ),
    "one-embed": named(
        "one-embed",
        (
            ("768-12-s128-b512", shape(768, 12, 12, kind="prefill", seq_len=128, batch=512)),
            ("1024-24-s256-b256", shape(1024, 24, 16, kind="prefill", seq_len=256, batch=256)),
            ("1536-16-s512-b64", shape(1536, 16, 12, kind="prefill", seq_len=512, batch=64)),
        ),
    ),
    "one-decode": named(
        "one-decode",
        (
            ("1536-16-b128", shape(1536, 16, 12, kind="decode", batch=128)),
            ("2560-8-b256", shape(2560, 8, 20, kind="decode", batch=256)),
            ("4096-8-b64", shape(4096, 8, 32, kind="decode", batch=64)),
            ("3072-8-b512", shape(3072, 8, 24, kind="decode", n_kv_heads=4, batch=512)),
        ),
    ),
    "one-decode-long": named(
        "one-decode",
        (
            ("2560-8-s4096-b64", shape(2560, 8, 20, kind="decode", seq_len=4096, batch=64)),
            ("4096-6-s8192-b32", shape(4096, 6, 32, kind="decode", n_kv_heads=8, seq_len=8192, batch=32)),
        ),
    ),
    "one-decode-few": named(
        "one-decode",
        (
            ("4096-8-b1", shape(4096, 8, 32, kind="decode", batch=1)),
            ("3072-8-b8", shape(3072, 8, 24, kind="decode", batch=8)),
            ("5120-6-b4", shape(5120, 6, 40, kind="decode", batch=4)),
        ),
    ),
    "one-serve": named(
        "one-serve",
        (
            ("1536-16-p4-n32", shape(1536, 16, 12, kind="serve", batch=64, prompts=4, new_tokens=32)),
            ("4096-6-p8-n64", shape(4096, 6, 32, kind="serve", batch=64, prompts=8, new_tokens=64)),
            ("2560-8-p2-n16", shape(2560, 8, 20, kind="serve", batch=128, prompts=2, new_tokens=16)),
            ("3072-6-p16-n8", shape(3072, 6, 24, kind="serve", batch=128, prompts=16, new_tokens=8)),
            ("2048-12-p32-n4", shape(2048, 12, 16, kind="serve", batch=64, prompts=32, new_tokens=4)),
        ),
    ),
    "one-serve-gaps": named(
        "one-serve-gaps",
        (
            (
                "1536-16-half",
                shape(1536, 16, 12, kind="serve", batch=64, prompts=4, new_tokens=16, duty_ratio=0.5),
            ),
            ("4096-6-half", shape(4096, 6, 32, kind="prefill", batch=8, duty_ratio=0.5, burst_steps=3)),
            ("2560-8-most", shape(2560, 8, 20, kind="decode", batch=64, duty_ratio=0.7, burst_steps=40)),
        ),
    ),
    "one-see": named(
        "one-see",
        (
            ("vit-1024-24-b256", shape(1024, 24, 16, kind="vit-inference", batch=256)),
            ("vit-768-12-b512", shape(768, 12, 12, kind="vit-inference", batch=512)),
            ("resnet-b512", {"kind": "resnet-inference", "batch": 512}),
            ("resnet-b64", {"kind": "resnet-inference", "batch": 64}),
        ),
    ),
    "one-draw": named(
        "one-draw",
        (
            ("1152-28-b16", shape(1152, 28, 16, kind="vit-inference", image=64, patch=2, batch=16)),
            ("1536-20-b4", shape(1536, 20, 12, kind="vit-inference", image=128, patch=2, batch=4)),
        ),
    ),
    "one-ask-experts": named(
        "one-ask-moe",
        (
            ("1536-6-e4", shape(1536, 6, 12, kind="prefill", batch=32, n_experts=4, experts_per_token=2)),
            ("2048-6-e8", shape(2048, 6, 16, kind="prefill", batch=32, n_experts=8, experts_per_token=1)),
        ),
    ),
    "one-ask-formats": named(
        "one-ask",
        (
            ("fp8-3072-8", shape(3072, 8, 24, kind="prefill", batch=16, precision="fp8")),
            ("fp16-2560-8", shape(2560, 8, 20, kind="prefill", batch=16, precision="fp16")),
            ("tf32-1536-12", shape(1536, 12, 12, kind="prefill", batch=16, precision="tf32")),
            ("fp16-decode-3072", shape(3072, 8, 24, kind="decode", batch=128, precision="fp16")),
        ),
    ),
}

_OTHER: Families = {
    "sort": (
        ("sort-2-27", {"kind": "sort", "size": 2**27}),
        ("sort-2-24", {"kind": "sort", "size": 2**24, "batch": 8}),
    ),
    "stencil": (
        ("stencil-8192", {"kind": "stencil", "size": 8192, "batch": 16}),
        ("stencil-2048", {"kind": "stencil", "size": 2048, "batch": 64}),
    ),
    "bodies": (
        ("bodies-16384", {"kind": "bodies", "size": 16384}),
        ("bodies-32768", {"kind": "bodies", "size": 32768}),
    ),
    "sparse": (
        ("sparse-2-22", {"kind": "sparse", "size": 2**22, "batch": 8}),
        ("sparse-2-24", {"kind": "sparse", "size": 2**24, "batch": 2}),
    ),
    "paths": (
        ("paths-2-26", {"kind": "paths", "size": 2**26, "batch": 8}),
        ("paths-2-22", {"kind": "paths", "size": 2**22, "batch": 64}),
    ),
    "hash": (
        ("hash-2-26", {"kind": "hash", "size": 2**26}),
        ("hash-2-20", {"kind": "hash", "size": 2**20, "batch": 32}),
    ),
    "solve-fp64": (
        ("solve-8192", {"kind": "solve-fp64", "size": 8192}),
        ("solve-16384", {"kind": "solve-fp64", "size": 16384}),
    ),
    "scan": (
        ("scan-2-28", {"kind": "scan", "size": 2**28, "batch": 8}),
        ("scan-2-24", {"kind": "scan", "size": 2**24, "batch": 64}),
    ),
    "gather": (
        ("gather-2-28", {"kind": "gather", "size": 2**28}),
        ("gather-2-24", {"kind": "gather", "size": 2**24, "batch": 16}),
    ),
    "histogram": (
        ("histogram-2-27", {"kind": "histogram", "size": 2**27, "batch": 4}),
        ("histogram-2-24", {"kind": "histogram", "size": 2**24, "batch": 32}),
    ),
    "waves": (
        ("waves-2-26", {"kind": "waves", "size": 2**26}),
        ("waves-2-22", {"kind": "waves", "size": 2**22, "batch": 16}),
    ),
    "filter": (
        ("filter-8192", {"kind": "filter", "size": 8192, "batch": 4}),
        ("filter-2048", {"kind": "filter", "size": 2048, "batch": 32}),
    ),
    "blocks-fp32": (
        ("blocks-8192", {"kind": "blocks-fp32", "size": 8192}),
        ("blocks-2048", {"kind": "blocks-fp32", "size": 2048, "batch": 32}),
    ),
    "gemm-fp64": (
        ("gemm-fp64-6144", {"kind": "gemm-fp64", "size": 6144, "batch": 2}),
        ("gemm-fp64-2048", {"kind": "gemm-fp64", "size": 2048, "batch": 32}),
    ),
    "copy": (
        ("copy-2-30", {"kind": "copy", "size": 2**30, "batch": 4}),
        ("copy-2-24", {"kind": "copy", "size": 2**24, "batch": 128}),
    ),
    "fft": (
        ("fft-2-24", {"kind": "fft", "size": 2**24, "batch": 32}),
        ("fft-2-28", {"kind": "fft", "size": 2**28, "batch": 2}),
    ),
    "burn": (
        ("burn-bf16-8192", {"kind": "gemm", "size": 8192, "batch": 8}),
        ("burn-tf32-8192", {"kind": "gemm", "size": 8192, "batch": 4, "precision": "tf32"}),
    ),
}
OTHER: Families = {family: named("one", members) for family, members in _OTHER.items()}
