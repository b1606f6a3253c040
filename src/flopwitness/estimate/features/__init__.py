"""A session as one row of numbers, each additive over devices and time; knows no estimator."""
