"""Groups of organizations, and which admins and API clients are limited to them."""
