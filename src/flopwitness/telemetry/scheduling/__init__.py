"""What a scheduler says: which job holds which GPUs, and since when."""
