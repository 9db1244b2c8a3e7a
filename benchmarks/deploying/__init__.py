"""The installation of `benchmarks.deploy`, and its load."""
