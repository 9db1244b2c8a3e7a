"""The organization's name in the texts of a template: a placeholder, filled when it is used."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.services.assistants.settings import AssistantFields
from app.services.organization_templates.content import PreparedCampaign, TemplateContent

NAME = "organizationName"
PLACEHOLDER = f"{{{NAME}}}"
_FILLED = re.compile(r"\{\s*organizationName\s*(?:\|[^{}]*)?\}")
_TEXTS_OF_ASSISTANT = ("name", "service", "default_intro", "default_voicemail")
_TEXTS_OF_PLAN = ("intro_message", "voicemail_message", "call_instructions")


def with_placeholder(content: TemplateContent, name: str) -> TemplateContent:
    """Return the content with the placeholder where a text has the organization's name."""
    name_pattern = r"\s+".join(map(re.escape, name.split()))
    organization_name = re.compile(rf"(?<!\w){name_pattern}(?!\w)", re.IGNORECASE)
    return _with_texts(content, lambda text: organization_name.sub(PLACEHOLDER, text))


def for_organization(content: TemplateContent, name: str) -> TemplateContent:
    """Return the content with the organization's name where a text has the placeholder."""
    return _with_texts(content, lambda text: _FILLED.sub(lambda _match: name, text))


def texts_with_placeholder(content: TemplateContent) -> int:
    """Return how many texts have the placeholder."""
    texts_filled: list[str] = []

    def kept(text: str) -> str:
        texts_filled.extend([text] if _FILLED.search(text) else [])
        return text

    _with_texts(content, kept)
    return len(texts_filled)


def _with_texts(content: TemplateContent, changed: Callable[[str], str]) -> TemplateContent:
    def texts_of(holder: object, names: tuple[str, ...]) -> dict[str, Any]:
        texts = {name: getattr(holder, name) for name in names}
        return {name: changed(text) for name, text in texts.items() if text}

    def of_assistant(fields: AssistantFields) -> AssistantFields:
        return replace(fields, **texts_of(fields, _TEXTS_OF_ASSISTANT))

    def of_campaign(campaign: PreparedCampaign) -> PreparedCampaign:
        plan = replace(campaign.plan, **texts_of(campaign.plan, _TEXTS_OF_PLAN))
        return replace(campaign, name=changed(campaign.name), plan=plan)

    return replace(
        content,
        assistants=tuple(map(of_assistant, content.assistants)),
        campaign=of_campaign(content.campaign) if content.campaign else None,
    )
