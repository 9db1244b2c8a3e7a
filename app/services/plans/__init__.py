"""What a plan allows: its limits, and what a change of them does to the organizations on it."""
