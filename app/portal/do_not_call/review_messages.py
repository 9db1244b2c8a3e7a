"""What the page of checked numbers says, and the messages about numbers that were added."""

from flask import url_for

from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.models import Organization
from app.policy import Permission
from app.portal.web.checked_rows import Cell, Review, RowToFix, add_label
from app.portal.web.formats import number
from app.services.do_not_call import AddedNumbers, ParsedNumbers, SheetLine, to_lines

MAX_SHOWN, MAX_COLUMNS_NAMED = 200, 3
LABELS = {"number": lazy_gettext("Number"), "reason": lazy_gettext("Reason")}
"""The cells of a row, in the order of the columns."""


def review_of(organization: Organization, parsed: ParsedNumbers) -> Review:
    organization_id = organization.id
    start = url_for("portal.do_not_call.new_numbers", organization_id=organization_id)
    ready, refused = len(parsed.valid), len(parsed.invalid)
    invalid = {line.number: line for line in parsed.invalid}
    to_fix = [
        RowToFix(position, line.number, _cells(invalid[line.number]))
        for position, line in enumerate(to_lines(parsed))
        if line.number in invalid
    ]
    return Review(
        title=gettext("Review rows"),
        lead=gettext("Nothing is added yet."),
        trail=[*trail_of(organization), (gettext("Add numbers"), start), (gettext("Review"), None)],
        check_url=url_for("portal.do_not_call.check_numbers", organization_id=organization_id),
        use_url=url_for("portal.do_not_call.add_valid_numbers", organization_id=organization_id),
        apply_label=add_label(ready, refused, _all_ready_label(ready)),
        busy_label=gettext("Adding…"),
        start_url=start,
        done_url=url_for("portal.do_not_call.list_numbers", organization_id=organization_id),
        to_fix=to_fix[:MAX_SHOWN],
        more_to_fix=max(refused - MAX_SHOWN, 0),
        ready=ready,
        done=(),
        done_title="",
        symbol="",
    )


def trail_of(organization: Organization) -> list[tuple[str, str]]:
    """Return the pages above those that add numbers."""
    list_url = url_for("portal.do_not_call.list_numbers", organization_id=organization.id)
    trail = [(gettext("Do-not-call list"), list_url)]
    if not caller().may(Permission.ORGANIZATIONS_READ):
        return trail
    return [
        (gettext("Organizations"), url_for("portal.organizations.list_organizations")),
        (
            organization.name,
            url_for("portal.organizations.show_organization", organization_id=organization.id),
        ),
        *trail,
    ]


def _all_ready_label(ready: int) -> str:
    return ngettext("Add %(num)s number", "Add %(num)s numbers", ready, num=number(ready))


def _cells(line: SheetLine) -> list[Cell]:
    problems = [line.problem] if line.problem else []
    return [
        Cell(name="number", label=LABELS["number"], value=line.text[:254], problems=problems),
        Cell(name="reason", label=LABELS["reason"], value=line.reason or ""),
    ]


def left_out_messages(parsed: ParsedNumbers) -> list[str]:
    """Return what was left out without being wrong: the heading, columns and repeated numbers."""
    messages = []
    if parsed.heading:
        messages.append(
            gettext("Line %(number)s was skipped as a heading.", number=number(parsed.heading))
        )
    if parsed.unused:
        names = ", ".join(parsed.unused[:MAX_COLUMNS_NAMED])
        if len(parsed.unused) > MAX_COLUMNS_NAMED:
            names += ", …"
        messages.append(
            ngettext(
                "Column not used: %(names)s.",
                "Columns not used: %(names)s.",
                len(parsed.unused),
                names=names,
            )
        )
    if parsed.repeated:
        messages.append(
            ngettext(
                "%(num)s line repeated a number.",
                "%(num)s lines repeated a number.",
                parsed.repeated,
            )
        )
    return messages


def numbers_added_message(added: AddedNumbers, parsed: ParsedNumbers) -> str:
    count = added.added
    messages = [ngettext("%(num)s number added.", "%(num)s numbers added.", count)]
    if added.known:
        messages.append(gettext("%(number)s already on the list.", number=number(added.known)))
    messages += left_out_messages(parsed)
    if parsed.invalid:
        left_out = len(parsed.invalid)
        messages.append(ngettext("%(num)s line left out.", "%(num)s lines left out.", left_out))
    if added.calls:
        messages.append(
            ngettext(
                "%(num)s queued call to these numbers will be cancelled.",
                "%(num)s queued calls to these numbers will be cancelled.",
                added.calls,
            )
        )
    return " ".join(messages)
