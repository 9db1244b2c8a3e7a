"""Telling other systems what happens in an organization, signed, until they have taken it.

`publishing` writes events with the change they tell of, `delivering` takes them to their endpoint
step by step, `endpoints` and `deliveries` are what people and the command line do with them.
"""
