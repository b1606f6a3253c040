"""What files from outside really contain, judged by one rule a kind of fault, whatever format it came in."""
