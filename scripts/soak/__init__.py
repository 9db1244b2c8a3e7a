"""What `python -m scripts.soak` lets two hosts go through, and what it counts."""
