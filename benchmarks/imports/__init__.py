"""What `benchmarks.import_file` measures, and how."""
