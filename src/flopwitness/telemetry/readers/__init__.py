"""One source of recorded telemetry a file; units and missing tokens end here."""
