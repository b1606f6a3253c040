"""Says how bad an estimator gets against a will; refuses to know how attacks are run."""
