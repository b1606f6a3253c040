"""Policies: what an account says of a claim or against a threshold."""
