"""Says how good an estimator is; refuses to know attacks and files."""
