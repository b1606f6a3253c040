"""The single conversions with their factors and sources. Conventions say how each text reads them."""

from flopwitness.physics.closed_forms import full_over_half
from flopwitness.verify.conversions import Conversion, Effect, Reading

USUAL_RECOMPUTATION = 1.34
"""Executed over algorithmic FLOP with every block computed once more, 8k context; 1.27 at 2k.

github.com/nikosvil/flopcheck, one H100 PCIe, 1.1 billion parameters; in theory 8N / 6N = 1.33
(llama-cookbook issue 740).
"""

TWICE_RECOMPUTED = 10 / 6
"""The same where activations are computed twice more: 10N a token for 6N. Derived."""

USUAL_MASK = full_over_half(4096, context_tokens=8192)
"""1.14: attention in full over half at width 4096 and context 8k.

Derived. flopcheck saw MFU move 8 % at 2k and 26 % at 8k on a narrower model (1.1 billion parameters).
"""

LONG_MASK = full_over_half(4096, context_tokens=131072)
"""1.73: the same at context 131k.

Derived. MaxText pull request 1988 went from 125,194 to 72,827 TFLOP a step: 1.72x.
"""

FLOPCHECK = "github.com/nikosvil/flopcheck (one H100 PCIe)"
GUIDELINES = "Commission guidelines for providers of general-purpose AI models, C(2025) 7719 final"

FAILED = Conversion(
    "failed-runs",
    "Runs that failed or only explored.",
    1.0,
    1.0,
    is_declared=True,
    source=f"{GUIDELINES}; no published share was found; 10 % moves it 1.11x, 50 % 2x (derived)",
    effect=Effect.SHARE_OUT,
    declarations=("failed_ratio",),
    reading=Reading.OUT,
)
AUXILIARY = Conversion(
    "auxiliary-models",
    "Teachers in distillation, reward and value models.",
    1.0,
    1.0,
    is_declared=True,
    source=GUIDELINES,
    effect=Effect.SHARE_OUT,
    declarations=("auxiliary_ratio",),
    reading=Reading.OUT,
)
PUBLIC_SYNTHETIC = Conversion(
    "public-synthetic-data",
    "Forward passes that made synthetic data which anybody can have.",
    1.0,
    1.0,
    is_declared=True,
    source=GUIDELINES,
    effect=Effect.SHARE_OUT,
    declarations=("public_synthetic_ratio",),
    reading=Reading.OUT,
)
EVALUATION = Conversion(
    "evaluation",
    "Evaluation and red-teaming.",
    1.0,
    1.0,
    is_declared=True,
    source=f"{GUIDELINES}; 7 % in a 175B pre-training with 24 evaluations, 12 % in a 70B LoRA tuning "
    "(derived from mlcommons/training_results_v4.0)",
    effect=Effect.SHARE_OUT,
    declarations=("evaluation_ratio",),
    reading=Reading.OUT,
)
RECOMPUTATION = Conversion(
    "recomputation",
    "Activations computed a second time to save memory; telemetry cannot tell them from other work.",
    1 / USUAL_RECOMPUTATION,
    1.0,
    is_declared=False,
    source=f"{FLOPCHECK}: executed is 1.27x (2k) to 1.34x (8k) of algorithmic; 8N/6N = 1.33x in theory "
    "(llama-cookbook issue 740); twice: 10N/6N = 1.67x (derived)",
    effect=Effect.DIVIDED,
    declarations=("recompute_factor",),
    reading=Reading.OUT,
    widest_low_factor=1 / TWICE_RECOMPUTED,
)
CAUSAL_MASK = Conversion(
    "causal-mask",
    "The half of attention that a causal mask throws away, where a kernel computed it.",
    1 / USUAL_MASK,
    1.0,
    is_declared=False,
    source="(12d + 2T) / (12d + T) for width d and context T (derived): 1.14x at d 4096 and T 8k, 1.73x at "
    "131k; MaxText pull request 1988: 1.72x",
    effect=Effect.MASKED,
    declarations=("mask_factor", "context_tokens", "width"),
    reading=Reading.OPEN,
    widest_low_factor=1 / LONG_MASK,
)
PRECISION = Conversion(
    "precision",
    "Number formats: an operation is one, in FP8, bf16 or FP64 alike.",
    1.0,
    1.0,
    is_declared=False,
    source="no rule that was read weighs formats; the EU and the US texts count every operation once",
)
SPARSITY = Conversion(
    "sparsity",
    "Zeros of 2:4 sparse weights that a kernel skipped; counted only from a declared share on.",
    1.0,
    1.0,
    is_declared=True,
    source="dense-equivalent over non-zero FLOP is 2x (derived); no rule that was read says which counts",
    effect=Effect.DOUBLED_SHARE,
    declarations=("sparse_ratio",),
    reading=Reading.OPEN,
)
SYNTHETIC = Conversion(
    "synthetic-data",
    "Forward passes outside the scope that made non-public synthetic data, discarded samples included.",
    1.0,
    1.0,
    is_declared=True,
    source=f"{GUIDELINES}; 2PD / (1 - r) of a generator with P parameters for D kept tokens, r discarded: "
    "one of the model's own size adds 33 % at r 0, 67 % at 50 %, 333 % at 90 % (derived)",
    effect=Effect.ADDED,
    declarations=("synthetic_flop",),
)
PARENTS = Conversion(
    "parent-weights",
    "All FLOP behind weights that were merged in or started from, once for each parent.",
    1.0,
    1.0,
    is_declared=True,
    source=f"{GUIDELINES}; California SB 53, BPC 22757.11(i)",
    effect=Effect.ADDED,
    declarations=("parent_flop",),
)
BASE_MODEL = Conversion(
    "base-model",
    "The base model of a fine-tune.",
    1.0,
    1.0,
    is_declared=True,
    source=f"{GUIDELINES}: a modifier is judged on its own compute by the one-third rule; California SB 53, "
    "BPC 22757.11(i): first run plus changes, open for a modifier",
    effect=Effect.ADDED,
    declarations=("base_flop",),
)
