"""Find: everything by one field."""
