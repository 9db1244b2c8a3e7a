"""Signing in with email address and password.

Hashing is slow on purpose and holds no transaction, so an entry point takes three steps::

    with transaction() as session:
        attempt = sign_in.begin(session, email=..., ip=..., partner_id=..., settings=...)
    proven = sign_in.verify(attempt, password, checks)
    with transaction() as session:
        outcome = sign_in.finish(session, attempt, proven, request_id=...)

An attempt counts as a failure from the beginning, until it is proven or withdrawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import Select, and_, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import OrganizationStatus, UserStatus
from app.errors import NotFound
from app.languages import gettext, language
from app.models import MailKind, Organization, Partner, User, utcnow
from app.services import audit, mail_queue
from app.services.auth import (
    attempt_limits,
    known_devices,
    offered_accounts,
    passwords,
    refused_sign_ins,
    second_step,
    sessions,
    sign_in_rules,
    throttle,
)
from app.services.auth.attempt_limits import AttemptLimits
from app.services.auth.offered_accounts import AccountOffer
from app.services.auth.password_checks import PasswordChecks
from app.services.auth.throttle import TooManyFailures

PORTAL_SUSPENDED = "portal_paused"
MIN_CHECKS = 2
"""Minimum password checks, so that the time reveals neither whether an address is known nor whether
it has accounts at several partners."""


@dataclass(frozen=True, slots=True)
class SignInAccount:
    """An account with the address."""

    user_id: UUID
    password_hash: str | None


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """An attempt and its accounts (none for an unknown address). ``refusal`` is the error for an
    attempt that comes too early: raise it after the transaction."""

    email: str
    partner_id: UUID | None
    ip: str | None
    accounts: Sequence[SignInAccount]
    limits: AttemptLimits
    refusal: TooManyFailures | None = None


@dataclass(frozen=True, slots=True)
class ProvenAccount:
    """An account whose password was right; ``new_hash`` if it should be hashed again."""

    account: SignInAccount
    new_hash: str | None


@dataclass(frozen=True, slots=True)
class PortalChoice:
    """One of several portals that the address and password open."""

    user_id: UUID
    partner_name: str
    organization_name: str | None


@dataclass(frozen=True, slots=True)
class SignInOutcome:
    """The signed-in user, the token of the second step that they need, or the choices with their
    offer. Else it is refused, without a reason unless the password was right: ``suspended_slug`` is
    the slug of a suspended partner, ``suspended`` says who to ask about a suspended account, and
    ``required_provider`` names the company account that must be used."""

    user: User | None = None
    second_step: str | None = None
    choices: Sequence[PortalChoice] = ()
    offer: AccountOffer | None = None
    suspended_slug: str | None = None
    suspended: str | None = None
    required_provider: str | None = None

    @property
    def refused(self) -> bool:
        return self.user is None and self.second_step is None and not self.choices


def active_partner_by_slug(session: Session, slug: str, host: str) -> Partner:
    """Return the partner whose sign-in page is ``/p/<slug>/sign-in`` at this host. Raises
    `NotFound`, also where the host is another partner's verified domain, and with the code
    `PORTAL_SUSPENDED` if the partner is suspended."""
    partner = partner_by_slug(session, slug, host)
    if partner.suspended_at is not None:
        raise NotFound(code=PORTAL_SUSPENDED)
    return partner


def partner_by_slug(session: Session, slug: str, host: str) -> Partner:
    """As `active_partner_by_slug`, also if the partner is suspended."""
    query = select(Partner).where(Partner.slug == slug)
    partner = session.scalars(query).one_or_none()
    if partner is None or (active_partner_by_host(session, host) or partner).id != partner.id:
        raise NotFound
    return partner


def active_partner_by_host(session: Session, host: str) -> Partner | None:
    """As `partner_by_host`, without suspended partners."""
    partner = partner_by_host(session, host)
    return None if partner is None or partner.suspended_at is not None else partner


def partner_by_host(session: Session, host: str) -> Partner | None:
    """Return the partner with this verified domain, also if it is suspended; None for every other
    host (neutral sign-in).

    ``host`` may include a port.
    """
    verified = and_(
        Partner.domain_key == sessions.host_name(host), Partner.domain_verified_at.is_not(None)
    )
    query = select(Partner).where(verified)
    return session.scalars(query).one_or_none()


def begin(
    session: Session,
    *,
    email: str,
    ip: str | None,
    partner_id: UUID | None,
    settings: Settings,
    device_cookie: str | None = None,
) -> SignInAttempt:
    """Count an attempt and load the accounts. ``partner_id`` None is the neutral sign-in: every
    account with the address, including the operator's."""
    key = email.strip().lower()
    query = _known_users().where(User.email_key == key).order_by(User.created_at, User.id)
    if partner_id is not None:
        query = query.where(User.partner_id == partner_id)
    accounts = [SignInAccount(user.id, user.password_hash) for user in session.scalars(query)]
    owners = [(account.user_id, account.password_hash) for account in accounts]
    device = known_devices.known_device_id(device_cookie, owners, settings.secret_keys)
    limits = attempt_limits.of_sign_in(settings, key, ip, device)
    attempt = SignInAttempt(key, partner_id, ip, accounts, limits)
    try:
        throttle.charge(session, limits.all)
    except TooManyFailures as error:
        refused_sign_ins.record_too_many(session, key, partner_id, ip, error.counter)
        return replace(attempt, refusal=error)
    return attempt


def withdraw(session: Session, attempt: SignInAttempt) -> None:
    """Uncount an attempt, because its password could not be checked."""
    throttle.reset_after_success(session, (), attempt.limits.all)


def verify(
    attempt: SignInAttempt, password: str, checks: PasswordChecks
) -> Sequence[ProvenAccount]:
    """Return the accounts with this password. Slow; never inside a transaction. Raises
    `RateLimited` (``sign_in_busy``)."""
    proven = []
    with checks.slot():
        for account in attempt.accounts:
            if passwords.verify(account.password_hash, password):
                stale = passwords.needs_rehash(account.password_hash or "")
                proven.append(
                    ProvenAccount(account, passwords.hash_password(password) if stale else None)
                )
        for _ in range(MIN_CHECKS - len(attempt.accounts)):
            passwords.verify(None, password)
    return proven


def finish(
    session: Session,
    attempt: SignInAttempt,
    proven: Sequence[ProvenAccount],
    *,
    request_id: str | None = None,
    host: str = "",
    remembered: str | None = None,
) -> SignInOutcome:
    """Record the result of the attempt: a failure is recorded (and returned, not raised, so that
    the record is kept), one account is signed in or needs its
    second step at this ``host``, several are offered. ``remembered`` is the token of a browser that
    the second step is remembered in."""
    hashes = {proof.account.user_id: proof for proof in proven}
    able_users = sign_in_rules.able_to_sign_in(select(User))
    users = _still_proven(session, hashes, able_users)
    suspended = _still_proven(session, hashes, _known_users()) if not users else ()
    if users or suspended:
        throttle.reset_after_success(session, attempt.limits.individual, attempt.limits.shared)
    providers = {user.id: sign_in_rules.required_provider(session, user) for user in users}
    users, barred = [user for user in users if not providers[user.id]], users
    if barred and not users:
        refused_sign_ins.record_company_account(
            session, barred[0].partner_id, attempt.ip, request_id, "company_account_required"
        )
        return SignInOutcome(required_provider=providers[barred[0].id])
    if not users:
        refused_sign_ins.record_refusal(
            session, attempt.email, attempt.partner_id, attempt.ip, request_id
        )
        return _refusal_of(session, suspended[0]) if suspended else SignInOutcome()
    for user in users:
        user.password_hash = hashes[user.id].new_hash or user.password_hash
    if len(users) > 1:
        offer = offered_accounts.create(session, [user.id for user in users])
        return SignInOutcome(choices=_portal_choices(session, users), offer=offer)
    return finish_first_step(
        session, users[0], attempt.ip, request_id, host=host, remembered=remembered
    )


def choose(
    session: Session,
    user_id: UUID,
    offer: AccountOffer,
    *,
    ip: str | None,
    request_id: str | None = None,
    host: str = "",
    remembered: str | None = None,
) -> SignInOutcome:
    """Sign in one of the accounts that `finish` offered and use the offer up in any case: a refusal
    is returned, not raised, so that the offer is used up too."""
    is_offered = user_id in offered_accounts.redeem(session, offer)
    user = sign_in_rules.usable_user(session, user_id) if is_offered else None
    if user is None or sign_in_rules.required_provider(session, user):
        return SignInOutcome()
    return finish_first_step(session, user, ip, request_id, host=host, remembered=remembered)


def finish_first_step(
    session: Session,
    user: User,
    ip: str | None,
    request_id: str | None,
    *,
    host: str,
    remembered: str | None = None,
) -> SignInOutcome:
    """Sign in a user whose password was right, or begin the second step that they need."""
    if user.second_factor_at is None or second_step.is_remembered(session, user.id, remembered):
        return SignInOutcome(record_sign_in(session, user, ip, request_id))
    return SignInOutcome(
        second_step=second_step.begin(session, user.id, host=sessions.host_name(host))
    )


def finish_second_step(
    session: Session, user_id: UUID, ip: str | None, request_id: str | None
) -> User | None:
    """Sign in a user who proved a second factor; return None if they may not sign in any more, or
    must use a company account."""
    user = sign_in_rules.usable_user(session, user_id)
    if user is None:
        return None
    if sign_in_rules.required_provider(session, user):
        refused_sign_ins.record_company_account(
            session, user.partner_id, ip, request_id, "company_account_required"
        )
        return None
    return record_sign_in(session, user, ip, request_id)


def required_provider_of(session: Session, user_id: UUID) -> str | None:
    """Return the name of the company account that the user must sign in with."""
    user = sign_in_rules.usable_user(session, user_id)
    return sign_in_rules.required_provider(session, user) if user else None


def record_sign_in(session: Session, user: User, ip: str | None, request_id: str | None) -> User:
    """Record the sign-in of a user; the portal creates the session."""
    sessions.record_times(session, user, last_sign_in=utcnow())
    caller = sessions.caller_of(user, ip=ip, request_id=request_id)
    audit.record_change(session, caller, audit.SIGNED_IN, user)
    return user


def mail_about_new_browser(session: Session, user: User, ip: str | None) -> None:
    """Queue the mail to a user who signed in from a browser that the account wasn't used in
    before, in the language of that browser unless the account has one."""
    mail_queue.enqueue(
        session,
        MailKind.NEW_BROWSER,
        partner_id=user.partner_id,
        user_id=user.id,
        details={"address": ip or "?", "language": language()},
    )


def _still_proven(
    session: Session, hashes: Mapping[UUID, ProvenAccount], query: Select[User]
) -> Sequence[User]:
    """Lock the users; return those whose password hash is still the one that was checked."""
    accounts = query.where(User.id.in_(hashes)).order_by(User.created_at, User.id)
    locked = accounts.with_for_update(of=User, key_share=True)
    return [
        user
        for user in session.scalars(locked.execution_options(populate_existing=True))
        if user.password_hash == hashes[user.id].account.password_hash
    ]


def _refusal_of(session: Session, user: User) -> SignInOutcome:
    """Return what keeps out a user whose password was right."""
    partner = session.get(Partner, user.partner_id) if user.partner_id else None
    if partner is not None and partner.suspended_at is not None:
        return SignInOutcome(suspended_slug=partner.slug)
    return SignInOutcome(suspended=_suspension_of(session, user, partner))


def _suspension_of(session: Session, user: User, partner: Partner | None) -> str:
    """Return who a suspended user, or a member of a suspended or archived organization, can ask."""
    if partner is None:
        return gettext("Ask another operator.")
    organization = session.get(Organization, user.organization_id) if user.organization_id else None
    if organization is None or organization.status is OrganizationStatus.ACTIVE:
        return gettext("Contact an administrator of %(partner)s.", partner=partner.name)
    if partner.support_email:
        return gettext(
            "Contact %(partner)s at %(email)s about %(organization)s.",
            partner=partner.name,
            email=partner.support_email,
            organization=organization.name,
        )
    return gettext(
        "Contact %(partner)s about %(organization)s.",
        partner=partner.name,
        organization=organization.name,
    )


def _known_users() -> Select[User]:
    """Active and suspended users: with the right password they learn whether they, their
    organization or their partner is suspended."""
    return (
        select(User)
        .outerjoin(Partner, Partner.id == User.partner_id)
        .outerjoin(Organization, Organization.id == User.organization_id)
        .where(User.status.in_((UserStatus.ACTIVE, UserStatus.SUSPENDED)))
    )


def _portal_choices(session: Session, users: Sequence[User]) -> Sequence[PortalChoice]:
    names = {
        user_id: (partner, organization)
        for user_id, partner, organization in session.execute(
            select(User.id, Partner.name, Organization.name)
            .outerjoin(Partner, Partner.id == User.partner_id)
            .outerjoin(Organization, Organization.id == User.organization_id)
            .where(User.id.in_([user.id for user in users]))
        )
    }
    return [
        PortalChoice(user.id, names[user.id][0] or gettext("Operator"), names[user.id][1])
        for user in users
    ]
