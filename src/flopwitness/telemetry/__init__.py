"""World in, Traces out; refuses to know what samples mean."""
