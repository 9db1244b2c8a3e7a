"""Payment processors: what a plan costs, and where that is known from."""
