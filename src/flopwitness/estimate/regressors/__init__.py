"""Estimators with scikit-learn's interface: how each predictor's constants are learned."""
