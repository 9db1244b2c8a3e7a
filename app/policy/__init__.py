"""Permissions: the one table that both faces, the tests and the docs read.

``ROLE_PERMISSIONS`` gives each role its permissions, ``ROUTES`` gives each route the permission it
needs.
"""

from app.policy.roles import API_KEY_SCOPES, ROLE_PERMISSIONS, Permission
from app.policy.routes import ROUTES, OpenAccess, unlisted_routes
