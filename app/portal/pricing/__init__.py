"""Plans: their prices and their limits."""
