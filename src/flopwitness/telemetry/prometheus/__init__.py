"""Prometheus and its kin as sources: raw samples of GPU series, back into traces."""
