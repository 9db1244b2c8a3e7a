"""The load and faults of `python -m scripts.soak` on two hosts, and its measurements."""
