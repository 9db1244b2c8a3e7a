"""Partners: loading, the meaning of their fields, and every change to them."""

from app.services.partners.loading import (
    check,
    get,
    get_own,
    listing,
    named_in_filter,
    names_of,
    own_partner_id,
    own_with_pictures,
    remember,
    remember_read,
    search,
    suspended_of,
)
from app.services.partners.resource import BILLING_FIELDS, EDITOR_FIELDS, brand_lists, to_resource
from app.services.partners.status import end_trial, reactivate, start_trial, suspend
from app.services.partners.updating import (
    change_domain,
    choose_language,
    create,
    create_by_operator,
    set_billing_address,
    set_payment_terms,
    update,
    verify_domain,
)
