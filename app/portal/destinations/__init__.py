"""Call destinations: the operator's limits, and what a partner opens."""
