"""What a running witness shows to others: metrics for Prometheus, a page for people."""
