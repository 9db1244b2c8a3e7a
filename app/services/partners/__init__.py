"""Partners: who may see which, what their fields mean, and every change to them."""

from app.services.partners.changing import create, update, verify_domain
from app.services.partners.loading import check, get, listing, own
from app.services.partners.resource import EDITOR_FIELDS, HIDDEN_FROM_EDITOR, to_resource
