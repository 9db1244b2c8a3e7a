"""The two partners of `benchmarks.loud_neighbour`, and its measurements."""
