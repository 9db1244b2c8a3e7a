"""Numbers that an organization verifies by a call with a code."""
