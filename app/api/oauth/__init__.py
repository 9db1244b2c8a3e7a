"""The authorization server: tokens for Areas A and B, its metadata, its keys."""

from app.api.oauth.blueprint import blueprint
from app.api.oauth.discovery import key_set, metadata
from app.api.oauth.token_endpoint import revoke_token, token
