"""What the lab can run: one family a file. Knows no sampler and no file."""
