"""The legacy API: its calls, and the migration of its clients to the current one."""
