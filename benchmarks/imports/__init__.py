"""The measurements of `benchmarks.import_file`."""
