"""SCIM 2.0 (RFC 7643 and 7644): a partner's directory provisions users and groups with a token."""

from app.api.scim.blueprint import blueprint
