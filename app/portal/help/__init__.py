"""Help in context: the “?” beside the title of a page."""
