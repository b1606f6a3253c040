"""What kind of work a session was: training, inference, something else, or unknown."""
