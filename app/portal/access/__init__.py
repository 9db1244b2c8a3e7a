"""The page that explains why a user may do something or not."""
