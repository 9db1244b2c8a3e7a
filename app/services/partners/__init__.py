"""Partners: loading, the meaning of their fields, and every change to them."""

from app.services.partners.changing import choose_language, create, update, verify_domain
from app.services.partners.loading import check, get, listing, own
from app.services.partners.resource import BILLING_FIELDS, EDITOR_FIELDS, to_resource
from app.services.partners.suspending import resume, suspend
from app.services.partners.trial import end_trial, start_trial
