"""The nouns, the errors and the ports; knows nothing but numpy."""
