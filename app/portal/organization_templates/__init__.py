"""Templates of organizations: their list, their parts, and new organizations from them."""
