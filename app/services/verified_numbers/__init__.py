"""Numbers that an organization verifies by a call with a code. `calls.request_verification` places
the call."""

from app.services.verified_numbers.confirming import CodeOutcome, CodeResult, confirm, remove
from app.services.verified_numbers.loading import (
    VerificationStatus,
    get,
    has_verified,
    listing,
    require_verifying,
    status_of,
    verified_among,
)
