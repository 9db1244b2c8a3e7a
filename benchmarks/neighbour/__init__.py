"""What `benchmarks.loud_neighbour` lets two partners do, and what it watches."""
