"""The numbers that calls come from: the operator's, and those of a partner's organizations."""
