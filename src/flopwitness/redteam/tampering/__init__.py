"""Tampered recordings: ten ways to change telemetry after it was taken, as pure functions."""
