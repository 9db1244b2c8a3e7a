"""False findings of schemathesis, each with its reason. All others count.

All but two concern one question: a request that fits the published schemas is refused, because
OpenAPI has no words for what is wrong with it. Such a refusal is excused only where its code is
listed here *and* published with the operation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

POSITIVE, NEGATIVE = "positive_data_acceptance", "negative_data_rejection"

BEYOND_SCHEMAS: Mapping[str, str] = {
    "nul_character": "A NUL can be kept out of a text only by a pattern on every text there is.",
    "number_out_of_range": "JSON Schema bounds numbers, not just those without a fraction.",
    "email_exists": "Whether an address is taken is known to the database alone.",
    "unknown_id": "The ids that a list may name are those of the entries that it has.",
    "no_organization": "Whether a user has an organization is known to the database alone.",
    "user_limit_reached": "How many users an organization has is known to the database alone.",
    "user_not_found": "The contract lists no 404 for this operation.",
    "organization_not_found": "The contract lists no 404 for this operation.",
    "selector_required": "OpenAPI can't require one of two parameters.",
    "selectors_disagree": "OpenAPI can't compare what two parameters name.",
    "end_before_start": "OpenAPI can't compare two parameters.",
    "range_too_long": "OpenAPI can't compare two parameters.",
    "invalid_cursor": "A cursor is a text that the server has made.",
    "invalid_phone": "A filter takes numbers as people write them.",
    "messaging_required": "A blank message counts as none, which a schema can't say.",
    "messaging_incomplete": "A blank message counts as none, which a schema can't say.",
    "messaging_conflict": "A blank message counts as none, which a schema can't say.",
    "external_id_pair_incomplete": "An empty half counts as none, which a schema can't say.",
    "unknown_external_id_key": "The keys are those of the assistants' settings.",
    "number_not_allowed": "Which numbers may be dialled stands in numbering plans and settings.",
}
"""Code of a refusal with 400 -> why the schemas can't say it."""


@dataclass(frozen=True)
class Finding:
    """A finding of a check, with the response concerned."""

    operation: str
    check: str
    message: str
    status: int
    body: Any
    published: frozenset[str]
    """The codes that the operation publishes for this status."""
    reproduction: str

    def __str__(self) -> str:
        return (
            f"{self.operation}: {self.check}\n{self.message}\n{self.reproduction}\n"
            f"-> {self.status} {self.body}"
        )


def _is_in_the_published_form(finding: Finding) -> bool:
    """Refused for a reason that only the server can know, with a published code."""
    if finding.check != POSITIVE or finding.status != 400 or "details" not in finding.body:
        return False
    details = finding.body["details"]
    codes = {problem["code"] for problem in details["errors"]} or {details["code"]}
    return codes <= BEYOND_SCHEMAS.keys() & finding.published


def _answered_item_by_item(finding: Finding) -> bool:
    """Bad contacts of a valid request are reported one by one, with 200
    (docs/decisions/contacts.md#envelope)."""
    return (
        finding.operation == "POST /api/v1/campaigns/{campaignId}/contacts"
        and finding.check == NEGATIVE
        and "contacts -> Array with invalid items" in finding.message
        and finding.status == 200
        and finding.body["errors"] != []
    )


def _two_ways_of_proving(finding: Finding) -> bool:
    """OpenAPI can't say: by HTTP Basic or in the form, not both at once (RFC 6749, 2.3)."""
    return (
        finding.operation == "POST /oauth2/revoke"
        and finding.check == POSITIVE
        and finding.body
        == {
            "error": "invalid_request",
            "error_description": "Send the client's secret in one way only.",
        }
    )


EXCEPTIONS: tuple[Callable[[Finding], bool], ...] = (
    _is_in_the_published_form,
    _answered_item_by_item,
    _two_ways_of_proving,
)


def is_excused(finding: Finding) -> bool:
    return any(applies(finding) for applies in EXCEPTIONS)
