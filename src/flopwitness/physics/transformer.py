"""The shape of a decoder-only transformer and the matrices of its blocks; counts nothing."""

from dataclasses import dataclass

from flopwitness.core.errors import InvalidNounError

STAGE_QKV, STAGE_OUTPUT, STAGE_MLP_IN, STAGE_DOWN = range(4)
"""Order of a block's matrices along the data: a gradient that one stage needs passes all later ones."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """One kind of matrix of a block: widths, place, copies stored and copies that each token passes."""

    name: str
    d_in: int
    d_out: int
    stage: int
    n_stored: int = 1
    n_used: int = 1

    @property
    def n_entries(self) -> int:
        """Entries of one copy."""
        return self.d_in * self.d_out


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerShape:
    """What the FLOP of a training step depend on.

    Attributes
    ----------
    d_model, n_layers, n_heads, d_ff : int
        Width, blocks, query heads (the width is a multiple), hidden width of the MLP (of one expert).
    seq_len, batch : int
        Tokens a sequence; sequences that one GPU takes in a step.
    vocabulary : int
        Columns of the output head; the embedding lookup has no product.
    n_kv_heads : int, optional
        Heads of keys and values with grouped queries; ``n_heads`` where not given.
    mlp_matrices : int
        2 (up, down), or 3 with a gate.
    n_experts, experts_per_token : int
        MLPs stored, and those that each token passes. With more than one expert each block has a router.
        Tokens dropped for lack of capacity, and shared experts, are not modelled.
    lora_rank : int, optional
        Rank of the adapters (Hu et al., arXiv:2106.09685); all else is then frozen. Full training where not
        given.
    lora_matrices : frozenset of str
        Adapted matrices, of query, key, value, output, gate, up, down; that paper adapts query and value.

    Raises
    ------
    InvalidNounError
        When a count is not positive, heads do not divide, or an adapted matrix does not exist.
    """

    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int
    seq_len: int
    batch: int
    vocabulary: int
    n_kv_heads: int | None = None
    mlp_matrices: int = 2
    n_experts: int = 1
    experts_per_token: int = 1
    lora_rank: int | None = None
    lora_matrices: frozenset[str] = frozenset({"query", "value"})

    def __post_init__(self) -> None:
        """Refuse what is no transformer."""
        self._check_counts()
        if self.d_model % self.n_heads or self.n_heads % (self.n_kv_heads or self.n_heads):
            raise InvalidNounError(
                f"heads do not divide: {self.d_model} wide, {self.n_heads} heads, {self.n_kv_heads} key heads"
            )
        if self.mlp_matrices not in (2, 3):
            raise InvalidNounError(f"an MLP has 2 or 3 matrices, not {self.mlp_matrices}")
        if self.experts_per_token > self.n_experts:
            raise InvalidNounError(f"{self.experts_per_token} experts a token, but only {self.n_experts}")
        adaptable = {matrix.name for matrix in self.block_matrices} - {"router"}
        if self.lora_rank and not (self.lora_matrices and self.lora_matrices <= adaptable):
            raise InvalidNounError(f"cannot adapt {sorted(self.lora_matrices)}, only {sorted(adaptable)}")

    def _check_counts(self) -> None:
        names = ("d_model", "n_layers", "n_heads", "d_ff", "seq_len", "batch", "vocabulary", "n_kv_heads")
        for name in (*names, "n_experts", "experts_per_token", "lora_rank"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise InvalidNounError(f"{name} must be positive, got {count}")

    @property
    def n_tokens(self) -> int:
        """Tokens that one GPU takes in a step."""
        return self.batch * self.seq_len

    @property
    def block_matrices(self) -> tuple[Matrix, ...]:
        """Matrices of one block along the data; all blocks are alike."""
        kv_width = self.d_model // self.n_heads * (self.n_kv_heads or self.n_heads)
        d, experts, used = self.d_model, self.n_experts, self.experts_per_token
        router = (Matrix("router", d, experts, STAGE_MLP_IN),) if experts > 1 else ()
        gate = (Matrix("gate", d, self.d_ff, STAGE_MLP_IN, experts, used),) if self.mlp_matrices == 3 else ()
        return (
            Matrix("query", d, d, STAGE_QKV),
            Matrix("key", d, kv_width, STAGE_QKV),
            Matrix("value", d, kv_width, STAGE_QKV),
            Matrix("output", d, d, STAGE_OUTPUT),
            *router,
            *gate,
            Matrix("up", d, self.d_ff, STAGE_MLP_IN, experts, used),
            Matrix("down", self.d_ff, d, STAGE_DOWN, experts, used),
        )

    @property
    def last_matrix(self) -> Matrix:
        """The matrix whose result leaves the block."""
        return self.block_matrices[-1]

    @property
    def first_trained_stage(self) -> int:
        """Stage of the first block where training begins; -1 where the embedding before it is trained too."""
        if not self.lora_rank:
            return -1
        return min(matrix.stage for matrix in self.block_matrices if matrix.name in self.lora_matrices)

    def rank_of(self, matrix: Matrix) -> int:
        """Return the rank of a matrix's adapter, 0 where it has none."""
        return self.lora_rank if self.lora_rank and matrix.name in self.lora_matrices else 0
