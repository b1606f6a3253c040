"""Estimates in, Verdicts out; refuses to know where bytes lie."""
