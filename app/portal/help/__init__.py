"""Help in context: the “?” next to the title of a page."""
