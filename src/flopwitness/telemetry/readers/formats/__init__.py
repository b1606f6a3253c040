"""One file format a file: how it is recognised, and what its fields are. Everything else is shared."""
