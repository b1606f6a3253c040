"""Do the signals of a recording agree? Findings say where they do not; no number is changed."""
