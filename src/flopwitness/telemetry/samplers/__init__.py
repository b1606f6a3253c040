"""Live sources: each asks hardware or a program beside it, and answers with one sample a device."""
