"""The ledger as arithmetic: entries, chain, Merkle tree, checkpoints and proofs; not where bytes lie."""
