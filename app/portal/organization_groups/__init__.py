"""Groups of organizations, and the admins and API clients that are limited to them."""
