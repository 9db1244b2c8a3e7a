"""Durable work: what the worker process runs."""
