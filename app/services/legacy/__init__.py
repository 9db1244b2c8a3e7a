"""The legacy API: its calls, and the way of its clients to the current one."""
