"""The second set for a classifier of work: other families and shapes, for one look."""

from flopwitness.lab.classes import Families, named, shape

SECOND: Families = {
    "again-width-depth": named(
        "again",
        (
            ("1280-14-b12", shape(1280, 14, 10, batch=12)),
            ("2304-9-b8", shape(2304, 9, 18, batch=8)),
            ("3584-5-b6", shape(3584, 5, 28, batch=6)),
        ),
    ),
    "again-long": named("again-long", (("1792-8-s6144", shape(1792, 8, 14, seq_len=6144, batch=2)),)),
    "again-mixed": named(
        "again",
        (
            ("grouped-2304-9", shape(2304, 9, 18, batch=8, n_kv_heads=6)),
            ("accumulate-recompute-1792-10", shape(1792, 10, 14, batch=4, accumulation=3, recompute=True)),
            ("moe-1280-8-e6-k2", shape(1280, 8, 10, batch=16, n_experts=6, experts_per_token=2)),
            ("fsdp-2304-9", shape(2304, 9, 18, batch=8, parallel="fsdp")),
            ("offload-1792-8", shape(1792, 8, 14, batch=8, offload_layers=2)),
        ),
    ),
    "again-lora": named(
        "again-lora",
        (
            ("2304-9-r16", shape(2304, 9, 18, batch=6, lora_rank=16)),
            ("3584-5-r8", shape(3584, 5, 28, batch=8, lora_rank=8, recompute=True)),
        ),
    ),
    "again-vision": named(
        "again",
        (
            ("vit-896-14-b160", shape(896, 14, 14, kind="vit", batch=160)),
            ("resnet-b512-160", {"kind": "resnet", "batch": 512, "image": 160}),
        ),
    ),
    "again-prefill": named(
        "again-prefill",
        (
            ("1280-14-b48", shape(1280, 14, 10, kind="prefill", batch=48)),
            ("2304-9-s2048-b12", shape(2304, 9, 18, kind="prefill", seq_len=2048, batch=12)),
            ("5120-5-b3", shape(5120, 5, 40, kind="prefill", batch=3)),
            ("896-14-s192-b384", shape(896, 14, 14, kind="prefill", seq_len=192, batch=384)),
        ),
    ),
    "again-decode": named(
        "again-decode",
        (
            ("1280-14-b320", shape(1280, 14, 10, kind="decode", batch=320)),
            ("5120-5-s3072-b48", shape(5120, 5, 40, kind="decode", seq_len=3072, batch=48)),
            ("3584-8-b2", shape(3584, 8, 28, kind="decode", batch=2)),
        ),
    ),
    "again-serve": named(
        "again-serve",
        (
            ("2304-9-p6-n24", shape(2304, 9, 18, kind="serve", batch=96, prompts=6, new_tokens=24)),
            ("1280-14-p24-n6", shape(1280, 14, 10, kind="serve", batch=48, prompts=24, new_tokens=6)),
            (
                "3584-5-gaps",
                shape(3584, 5, 28, kind="serve", batch=64, prompts=4, duty_ratio=0.6, burst_steps=2),
            ),
        ),
    ),
    "again-tensor": named(
        "again-tensor",
        (
            ("prefill-1792-10", shape(1792, 10, 14, kind="prefill", batch=16, parallel="tensor")),
            ("prefill-3584-5", shape(3584, 5, 28, kind="prefill", batch=4, parallel="tensor")),
            ("decode-3584-5", shape(3584, 5, 28, kind="decode", batch=128, parallel="tensor")),
            (
                "serve-1792-10",
                shape(1792, 10, 14, kind="serve", batch=64, prompts=8, new_tokens=12, parallel="tensor"),
            ),
        ),
    ),
    "again-see": named(
        "again-see",
        (
            ("vit-1280-14-b192", shape(1280, 14, 16, kind="vit-inference", batch=192)),
            ("draw-896-14", shape(896, 14, 14, kind="vit-inference", image=96, patch=2, batch=8)),
            ("moe-1280-8-e6", shape(1280, 8, 10, kind="prefill", batch=24, n_experts=6, experts_per_token=2)),
        ),
    ),
    "again-other": named(
        "again",
        (
            ("sort-2-26", {"kind": "sort", "size": 2**26, "batch": 2}),
            ("stencil-4096", {"kind": "stencil", "size": 4096, "batch": 32}),
            ("bodies-24576", {"kind": "bodies", "size": 24576}),
            ("paths-2-24", {"kind": "paths", "size": 2**24, "batch": 32}),
            ("hash-2-24", {"kind": "hash", "size": 2**24, "batch": 4}),
            ("solve-12288", {"kind": "solve-fp64", "size": 12288}),
            ("gather-2-26", {"kind": "gather", "size": 2**26, "batch": 4}),
            ("waves-2-24", {"kind": "waves", "size": 2**24, "batch": 4}),
            ("blocks-4096", {"kind": "blocks-fp32", "size": 4096, "batch": 8}),
            ("fft-2-22", {"kind": "fft", "size": 2**22, "batch": 128}),
            ("gemm-fp64-3072", {"kind": "gemm-fp64", "size": 3072, "batch": 16}),
            ("copy-2-28", {"kind": "copy", "size": 2**28, "batch": 16}),
        ),
    ),
}
