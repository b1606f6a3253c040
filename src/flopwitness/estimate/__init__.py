"""Sessions in, Estimates out; refuses to know claims."""
