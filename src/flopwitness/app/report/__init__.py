"""Pure rendering of results for people."""
