"""What `benchmarks.deploy` starts, and who works with it meanwhile."""
