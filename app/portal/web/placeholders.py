"""Warnings about names in braces that calls can't fill."""

from collections.abc import Callable, Iterable, Sequence

from app.languages import ngettext
from app.models import Outreach
from app.portal.web.messages import flash
from app.services.calls import message_templates
from app.services.outreach import CampaignPlan

_MAX_NAMES, _MAX_LETTERS = 10, 40


def warn_of_placeholders(
    texts: Iterable[str | None], further: Callable[[], Iterable[str]] = tuple
) -> None:
    """Show the result of `unknown_placeholders_message` about saved texts on the next page."""
    if message := unknown_placeholders_message(texts, further):
        flash(message, "warning")


def unknown_placeholders_message(
    texts: Iterable[str | None], further: Callable[[], Iterable[str]] = tuple
) -> str:
    """Return which placeholders of the texts are unknown, and which are known; empty if there are
    no unknown ones. ``further`` returns known names besides those of each contact; it is called
    only if they are needed."""
    unknown = message_templates.names_in(texts) - set(message_templates.NAMES)
    more = set(further()) if unknown else set()
    unknown -= more
    return (
        _unknown_message(sorted(unknown), [*message_templates.NAMES, *sorted(more)])
        if unknown
        else ""
    )


def texts_of(plan: CampaignPlan | Outreach) -> tuple[str | None, ...]:
    return plan.intro_message, plan.voicemail_message, plan.call_instructions


def _unknown_message(unknown: Sequence[str], supported: Sequence[str]) -> str:
    return ngettext(
        "%(names)s isn’t a known placeholder. Calls can’t fill it unless their metadata has that "
        "name. Known: %(known)s.",
        "%(names)s aren’t known placeholders. Calls can’t fill them unless their metadata has "
        "those names. Known: %(known)s.",
        len(unknown),
        names=_format_names(unknown),
        known=_format_names(supported),
    )


def _format_names(names: Sequence[str]) -> str:
    return ", ".join(f"{{{name[:_MAX_LETTERS]}}}" for name in names[:_MAX_NAMES])
