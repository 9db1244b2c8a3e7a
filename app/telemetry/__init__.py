"""What the portal reports about itself: the ids of log lines, metrics, traces, error reports."""
