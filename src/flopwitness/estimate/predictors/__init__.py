"""Estimators as plain numbers: what a calibration holds and how it predicts, numpy alone."""
