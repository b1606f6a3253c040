"""Runs workloads of known FLOP; alone imports torch."""
