"""FLOP from few signals: bounds that physics gives, and intervals under stated assumptions."""
