"""Clients of the token endpoint: Area A by role, Area B for one organization.

A partner's administrators make the first kind, only the operator the second ("support-issued").
A secret is returned once, by `create`, `create_legacy` and `rotate`; its hash alone is stored.
"""

from app.services.oauth_clients.authenticating import authenticate, record_refusal, record_too_many
from app.services.oauth_clients.issuing import (
    CLIENT_ROLES,
    NewClient,
    create,
    create_legacy,
    resume,
    revoke,
    rotate,
    suspend,
)
from app.services.oauth_clients.loading import get, list_all, search
