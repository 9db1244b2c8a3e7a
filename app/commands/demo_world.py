"""Build the demo through the services, and collect its secrets while they can be shown."""

import random
import secrets
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.commands.demo_history import add_calls
from app.commands.demo_story import (
    CONVERSATION,
    OWNER,
    PLAN_TEXTS,
    PLANS,
    OrganizationStory,
    PartnerStory,
)
from app.commands.legacy import add_legacy_client
from app.enums import (
    AlertMeasure,
    AlertPeriod,
    AlertScope,
    CallSource,
    ContactAction,
    Role,
    Tier,
    UserStatus,
)
from app.gateways.carriers.simulator import SIMULATED_NUMBERS
from app.models import Assistant, Organization, Partner, PartnerDay, User, utcnow
from app.policy.caller import Caller, system_caller
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.parsing import read
from app.schemas.partners import CreatePartnerInput
from app.schemas.users import CreateUserInput
from app.schemas.voice import VoiceReport
from app.services import (
    alerts,
    assistants,
    calls,
    campaigns,
    contacts,
    do_not_call,
    oauth_clients,
    organizations,
    partners,
    rollup,
    users,
)
from app.services.auth import passwords
from app.services.billing_address import BillingAddress
from app.services.credentials import api_keys
from app.services.pricing import versions
from app.services.recordings import reports
from app.services.users import operators

SHOWN_OUTCOMES = ("human", "voicemail", "busy", "noAnswer", "failed")
LISTED = "+12025550199"
FULL_NAMES = (
    ("Aurelia", "Whitcombe-Szymańska"), ("Tomasz", "Baran"), ("Priya", "Raghunathan"),
    ("Óscar", "de la Fuente y Montalbán"), ("Marguerite", "Oyelaran"), ("Ünal", "Şahin"),
)  # fmt: skip
CLIENTS = (
    (Role.PARTNER_ADMIN, "Portal scripts"),
    (Role.PARTNER_EDITOR, "Brand scripts"),
    (Role.ADMIN, "Customer scripts"),
)
STAFF = (
    (Role.PARTNER_ADMIN, "admin", "Maren Oduya"),
    (Role.PARTNER_EDITOR, "editor", "Jonas Weil"),
    (Role.ADMIN, "customers", "Ines Castell"),
)


def new_password() -> str:
    """Sixteen URL-safe characters: 96 random bits."""
    return secrets.token_urlsafe(12)


class DemoWorld:
    """One run of the demo; docs/decisions/demo.md shows the dictionaries. ``retirement`` is that of
    the retired calling API."""

    def __init__(self, session: Session, caller: Caller, base_url: str, retirement: datetime):
        self.session = session
        self.retirement = retirement
        self.caller = caller
        self.base_url = base_url
        self.random = random.Random(7)  # noqa: S311 - invented history, the same in each run

    def build(self, stories: tuple[PartnerStory, ...], history_days: int) -> dict[str, Any]:
        password = new_password()
        operators.create(
            self.session,
            self.caller,
            email="operator@demo.example",
            name="Platform operator",
            password_hash=passwords.hash_password(password),
        )
        client = oauth_clients.create(
            self.session, self.caller, name="Operator scripts", role=Role.OPERATOR
        )
        return {
            "baseUrl": self.base_url,
            "operator": {
                "email": "operator@demo.example",
                "password": password,
                **_client_entry(client),
            },
            "partners": [self._partner(story, history_days) for story in stories],
        }

    def _publish_plans(self, actor: Caller, partner: Partner, days_ago: int) -> None:
        for plan in versions.current(self.session, actor, partner.id).plans:
            terms, features = PLANS[plan.tier]
            texts = PLAN_TEXTS[plan.tier]
            changed_plan = replace(plan, terms=terms, features=features, texts=texts)
            versions.save(self.session, actor, partner.id, changed_plan)
        version = versions.publish(self.session, actor, partner.id)
        version.published_at = utcnow() - timedelta(days=days_ago)
        version.author = f"{STAFF[0][1]}@{partner.slug}.example"

    def _partner(self, story: PartnerStory, history_days: int) -> dict[str, Any]:
        fields = read(CreatePartnerInput, _fields_of(story))
        partner = partners.create(self.session, self.caller, fields)
        partners.verify_domain(self.session, self.caller, partner.id)
        partners.end_trial(self.session, self.caller, partner.id)
        partners.set_billing_address(
            self.session, self.caller, partner.id, "\n".join(story.address), story.tax_id
        )
        terms = story.payment, "14", story.payment_texts
        partners.set_payment_terms(self.session, self.caller, partner.id, *terms)
        partner.created_at -= timedelta(days=history_days)
        actor = system_caller("demo", partner.id)
        self._publish_plans(actor, partner, history_days)
        clients = [
            (role, oauth_clients.create(self.session, actor, name=name, role=role))
            for role, name in CLIENTS
        ]
        return {
            "id": str(partner.id),
            "partnerName": partner.name,
            "domain": partner.domain,
            "client": _client_entry(clients[0][1]),
            "clients": [{"role": role.value, **_client_entry(new)} for role, new in clients],
            "users": [
                self._user(actor, partner, f"{word}@{story.slug}.example", role, name, history_days)
                for role, word, name in STAFF
            ],
            "organizations": self._organizations(actor, partner, story, history_days),
        }

    def _organizations(
        self, actor: Caller, partner: Partner, story: PartnerStory, history_days: int
    ) -> list[dict[str, Any]]:
        entries = [
            self._organization(actor, partner, story, organization, history_days)
            for organization in story.organizations
        ]
        self._calls(actor, *entries[:2])
        self._alerts(actor, UUID(entries[0]["id"]))
        return entries

    def _calls(self, actor: Caller, busiest: dict[str, Any], second: dict[str, Any]) -> None:
        """A call of each outcome, which the worker places on the simulated carrier. The one that
        rings longest is of another organization, so that the busiest can place one more at once."""
        numbers = busiest["simulator"]
        placed = {}
        for (outcome, number), (first, last) in zip(numbers.items(), FULL_NAMES, strict=False):
            organization = second if outcome == "noAnswer" else busiest
            request = calls.CallRequest(
                organization["agents"][0]["id"], number, first_name=first, last_name=last
            )
            placed[outcome] = calls.schedule(
                self.session, actor, request, source=CallSource.API, live=True
            )
        report = read(VoiceReport, CONVERSATION)
        reports.accept_report(self.session, placed["human"].call_id, report, "demo", utcnow())

    def _alerts(self, actor: Caller, busiest: UUID) -> None:
        """Create two alert rules; the history of the busiest organization meets one."""
        for rule in (
            alerts.RuleInput(
                AlertMeasure.ANSWER_RATE, AlertScope.EACH_ORGANIZATION, 20, AlertPeriod.DAYS_7
            ),
            alerts.RuleInput(
                AlertMeasure.CONVERSATIONS, AlertScope.ORGANIZATION, 150, AlertPeriod.DAYS_30,
                organization_id=busiest, by_mail=False,
            ),
        ):  # fmt: skip
            alerts.create(self.session, actor, rule)
        alerts.apply(self.session, alerts.changes(self.session, utcnow()), utcnow())

    def _user(
        self, actor: Caller, partner: Partner, email: str, role: Role, name: str, history_days: int
    ) -> dict[str, Any]:
        data = read(CreateUserInput, {"email": email, "userType": role.value})
        user = users.create(self.session, actor, partner.id, data)
        user.created_at -= timedelta(days=history_days)
        return self._with_password(actor, user, name)

    def _with_password(self, actor: Caller, user: User, name: str) -> dict[str, Any]:
        password = new_password()
        user.name = name
        users.set_password(self.session, actor, user, passwords.hash_password(password))
        return {
            "id": str(user.id),
            "email": user.email,
            "password": password,
            "userType": user.user_type.value,
        }

    def _customer(
        self, actor: Caller, partner: Partner, story: OrganizationStory
    ) -> tuple[User, dict[str, Any], Organization]:
        """Return the first user, the demo's data about them, and their organization."""
        name = " ".join(self.random.choice(FULL_NAMES))
        data = {
            "email": f"office@{story.host}",
            "userType": "standard",
            "tier": story.tier.value,
            "businessName": story.name,
            "service": story.service,
            "agentTimezone": story.timezone,
        }
        member = users.create(self.session, actor, partner.id, read(CreateUserInput, data))
        entry = self._with_password(actor, member, name)
        assert member.organization_id is not None  # noqa: S101 - what a standard user is
        organization = organizations.end_trial(self.session, actor, member.organization_id)
        organization.billing_address = BillingAddress(story.address).to_json()
        return member, entry, organization

    def _organization(
        self,
        actor: Caller,
        partner: Partner,
        partner_story: PartnerStory,
        story: OrganizationStory,
        history_days: int,
    ) -> dict[str, Any]:
        member, entry, organization = self._customer(actor, partner, story)
        speakers = self._assistants(actor, organization, story)
        campaign = campaigns.create(
            self.session, actor, organization.id, name="Winter recall", all_assistants=True
        )
        contacts.apply(self.session, campaign, self._contacts(story), ContactAction.UPSERT)
        do_not_call.add(
            self.session, actor, organization.id, LISTED, reason="Asked not to be called again"
        )
        limit = {"userLimit": organizations.USUAL_USER_LIMITS[story.tier]}
        organizations.update(
            self.session, actor, organization.id, read(UpdateOrganizationInput, limit)
        )
        organization.created_at -= timedelta(days=history_days)
        organization.tier_since = organization.created_at
        self._sign_up_earlier(member, history_days)
        members = [entry | {"externalUserId": str(member.id)}]
        if story is partner_story.organizations[0]:
            members.append(self._owner(actor, organization, story, history_days))
        add_calls(
            self.session,
            organization,
            speakers[0],
            story.pace,
            history_days,
            self.random,
        )
        legacy = add_legacy_client(
            self.session, self.caller, actor, organization, speakers[0],
            to=(" ".join(FULL_NAMES[0]), f"+1{story.area_code}5550150"),
            retirement=self.retirement, extended=partner_story.extended, days=history_days,
        )  # fmt: skip
        return {
            "id": str(organization.id),
            "name": organization.name,
            "paymentTier": story.tier.value,
            "users": members,
            "apiKey": self._key(actor, organization, live=True),
            "testApiKey": self._key(actor, organization, live=False),
            "agents": [
                {
                    "id": str(assistant.id),
                    "name": assistant.name,
                    "phoneNumber": assistant.phone_number,
                    "active": assistant.active,
                    "phoneReady": assistant.phone_ready,
                }
                for assistant in speakers
            ],
            "campaigns": [
                {"id": str(campaign.id), "name": campaign.name, "externalIdKeys": ["crmId"]}
            ],
            "doNotCall": [LISTED],
            "simulator": {word: SIMULATED_NUMBERS[word] for word in SHOWN_OUTCOMES},
            **legacy,
        }

    def _owner(
        self, actor: Caller, organization: Organization, story: OrganizationStory, history_days: int
    ) -> dict[str, Any]:
        """Create the organization's second user, who manages its users and assistants."""
        owner = users.invite(
            self.session, actor, email=f"owner@{story.host}", user_type=Role.OWNER,
            organization_id=organization.id, with_mail=False, with_notice=False,
        )  # fmt: skip
        owner.status = UserStatus.ACTIVE
        self._sign_up_earlier(owner, history_days)
        return self._with_password(actor, owner, OWNER) | {"externalUserId": str(owner.id)}

    def _sign_up_earlier(self, member: User, days: int) -> None:
        """Backdate a sign-up of today, before anything else is counted for it."""
        of_partner = PartnerDay.partner_id == member.partner_id
        today = member.created_at.date()
        self.session.execute(delete(PartnerDay).where(of_partner, PartnerDay.day == today))
        member.created_at -= timedelta(days=days)
        key = {"partner_id": member.partner_id, "day": member.created_at.date()}
        rollup.add(self.session, PartnerDay, key, {"sign_ups": 1}, {})

    def _assistants(
        self, actor: Caller, organization: Organization, story: OrganizationStory
    ) -> list[Assistant]:
        first, *_ = assistants.of_organization(self.session, actor, organization.id)
        messages: dict[str, Any] = {
            "default_intro": f"Hello, this is Robin from {story.name}.",
            "default_voicemail": f"Hello, this is Robin from {story.name}. Please call us back.",
        }
        assistants.configure_assistant(
            self.session, actor, first, phone_number=f"+1{story.area_code}5550148",
            phone_enabled=True, phone_configured=True, **messages,
        )  # fmt: skip
        assistants.define_external_id_key(self.session, actor, first, "crmId", identifies=True)
        inactive = assistants.add_assistant(
            self.session, actor, organization, name="Alex", timezone=story.timezone
        )
        assistants.configure_assistant(
            self.session, actor, inactive, active=False, phone_number=f"+1{story.area_code}5550149",
            phone_enabled=True, phone_configured=True,
        )  # fmt: skip
        silent = assistants.add_assistant(
            self.session, actor, organization, name="Kim", timezone=story.timezone
        )
        return [first, inactive, silent]

    def _contacts(self, story: OrganizationStory) -> list[dict[str, Any]]:
        return [
            {
                "firstName": first,
                "lastName": last,
                "phone": f"+1{story.area_code}55501{50 + position}",
                "email": f"person{position}@mail.example",
                "externalIdKey": "crmId",
                "externalIdValue": f"C-{1000 + position}",
                "contactMetadata": {"recall_due": "2026-12-03"},
            }
            for position, (first, last) in enumerate(FULL_NAMES)
        ]

    def _key(self, actor: Caller, organization: Organization, *, live: bool) -> str:
        name = "Live scripts" if live else "Trying out"
        return api_keys.create(
            self.session, actor, organization_id=organization.id, name=name, live=live
        ).secret


def _client_entry(new: oauth_clients.NewClient) -> dict[str, str]:
    return {"clientId": new.client.client_id, "clientSecret": new.secret}


def _fields_of(story: PartnerStory) -> dict[str, Any]:
    return {
        "partnerName": story.name,
        "domain": f"portal.{story.slug}.example",
        "productName": story.product_name,
        "defaultAgentName": "Robin",
        "defaultAgentLimit": 5,
        "supportEmail": f"support@{story.slug}.example",
        "billingEmail": f"billing@{story.slug}.example",
        "brandUIColors": [{"name": "primary", "value": story.colour}],
        "customHeaderLinks": [{"label": label, "url": url} for label, url in story.header_links],
        "partnerUpgradeMessage": "Room for more assistants and users.",
        "purchaseLink": f"https://www.{story.slug}.example/plans",
        "pricing": [
            {
                "tier": tier.value,
                "processorPriceId": f"price_{story.slug}_{word}",
                "processorProductId": f"prod_{story.slug}_{word}",
            }
            for tier, word in ((Tier.FREE, "free"), (Tier.BASIC, "basic"), (Tier.PLUS, "plus"))
        ],
    }
