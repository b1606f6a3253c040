"""Which sessions continue one run: marks of sessions, evidence for a link, chains. Refuses to know FLOP."""
