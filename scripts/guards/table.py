"""The guards: where each stands, what it is replaced by, and which tests must notice."""

from typing import NamedTuple


class Guard(NamedTuple):
    """``text`` stands exactly once in ``file``. ``tests`` are what pytest is given."""

    name: str
    file: str
    text: str
    replacement: str
    tests: str


GUARDS = (
    # Whose rows: the tenant filter
    Guard(
        "rows of the caller's partner only",
        "app/services/tenancy.py",
        "query = query.where(partner_id == caller.partner_id)",
        "query = query.where(partner_id == partner_id)",
        "tests/contract/test_tenancy.py",
    ),
    Guard(
        "rows of the caller's organization only",
        "app/services/tenancy.py",
        "query = query.where(organization_id == caller.organization_id)",
        "query = query.where(organization_id == organization_id)",
        "tests/contract/test_tenancy.py",
    ),
    Guard(
        "a request sees its partner's rows in PostgreSQL",
        "app/extensions.py",
        "return of_tenant(known.partner_id, known.organization_id)",
        "return INSTALLATION",
        "tests/test_row_level_security.py",
    ),
    # What they may do: permissions
    Guard(
        "a permission that is missing is refused",
        "app/policy/caller.py",
        "if permission not in self.permissions:",
        "if False:",
        "tests/contract/test_roles.py",
    ),
    Guard(
        "a narrowed credential grants no more than it has",
        "app/policy/caller.py",
        "for permission in sorted(ROLE_PERMISSIONS[role] & ROLE_PERMISSIONS[self.role]):",
        "for permission in ():",
        "tests/services/users/test_powers.py tests/services/credentials/test_clients.py "
        "tests/api/partner_admin/test_users.py",
    ),
    Guard(
        "an operation needs its permission",
        "app/api/operation.py",
        "g.caller.require(needed)",
        "pass",
        "tests/contract/test_roles.py tests/api/test_refusals.py",
    ),
    Guard(
        "a screen needs its permission",
        "app/portal/auth/guard.py",
        "            g.caller.require(needed)\n",
        "            pass\n",
        "tests/portal/test_screens_by_role.py",
    ),
    Guard(
        "a screen needs a signed-in user",
        "app/portal/auth/guard.py",
        "        if not current_user.is_authenticated:\n            return unauthorized()\n",
        "",
        "tests/portal/test_screens_by_role.py tests/portal/test_sign_in.py",
    ),
    Guard(
        "a route without a policy stops the start",
        "app/factory.py",
        "    if unlisted:",
        "    if False:",
        "tests/test_policy.py",
    ),
    # Forms and answers of the browser
    Guard(
        "a form needs its CSRF token",
        "app/portal/auth/guard.py",
        "        csrf.protect()\n",
        "        pass\n",
        "tests/portal/test_sign_in.py tests/portal/test_form_recovery.py",
    ),
    Guard(
        "a form of another site is refused",
        "app/portal/auth/guard.py",
        'if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):',
        "if False:",
        "tests/portal/test_sign_in.py tests/portal/test_form_recovery.py",
    ),
    Guard(
        "sign-in leads on to our own pages only",
        "app/portal/web/current_user.py",
        'if not wanted or not wanted.startswith("/"):',
        "if not wanted:",
        "tests/portal/test_sign_in.py",
    ),
    Guard(
        "pages run no script of others",
        "app/http/security_headers.py",
        "default-src 'self'; img-src",
        "default-src *; img-src",
        "tests/portal/test_error_pages.py tests/portal/test_sign_in.py tests/portal/test_assets.py",
    ),
    Guard(
        "cells of exports run no formula",
        "app/contact_files/formulas.py",
        "if _BEGINNING.search(value) else value",
        "if False else value",
        "tests/contact_files tests/commands/test_contacts_export.py",
    ),
    # Sign-in, sessions and links
    Guard(
        "a wrong password is refused",
        "app/services/auth/sign_in.py",
        "if passwords.verify(account.password_hash, password):",
        "if passwords.verify(account.password_hash, password) or True:",
        "tests/services/credentials/test_sign_in.py",
    ),
    Guard(
        "failed sign-ins are limited",
        "app/services/auth/throttle.py",
        "    if waits:\n",
        "    if False:\n",
        "tests/services/auth/test_throttle.py",
    ),
    Guard(
        "guesses at many accounts from one network are limited",
        "app/services/auth/attempt_limits.py",
        '    return [*_of_networks(f"{kind} network", network, ip), everywhere]\n',
        "    return [everywhere]\n",
        "tests/services/auth/test_throttle.py",
    ),
    Guard(
        "a browser is known by its signature",
        "app/services/auth/known_devices.py",
        "if not any(hmac.compare_digest(a, b) for a in wanted for b in signatures):",
        "if False:",
        "tests/services/auth/test_throttle.py",
    ),
    Guard(
        "a user whose access ends stores nothing more",
        "app/services/auth/author_check.py",
        "        _refuse_ended(session, author)\n",
        "        pass\n",
        "tests/portal/test_author_check.py",
    ),
    Guard(
        "a session ends at its time",
        "app/services/auth/sessions.py",
        'PortalSession.expires_at > bindparam("now"),',
        'bindparam("now").is_not(None),',
        "tests/services/credentials/test_sessions.py",
    ),
    Guard(
        "an idle session ends",
        "app/services/auth/sessions.py",
        'PortalSession.seen_at > bindparam("idle_since"),',
        'bindparam("idle_since").is_not(None),',
        "tests/services/credentials/test_sessions.py",
    ),
    Guard(
        "a suspended user has no session",
        "app/services/auth/sessions.py",
        "        User.status == UserStatus.ACTIVE,\n",
        "",
        "tests/services/credentials/test_sessions.py",
    ),
    Guard(
        "a suspended partner's users have no session",
        "app/services/auth/sessions.py",
        "        Partner.suspended_at.is_(None),\n",
        "",
        "tests/services/credentials/test_sessions.py",
    ),
    Guard(
        "a suspended organization's users have no session",
        "app/services/auth/sessions.py",
        "        Organization.id.is_(None) | (Organization.status == OrganizationStatus.ACTIVE),\n",
        "",
        "tests/services/credentials/test_sessions.py",
    ),
    Guard(
        "a password that changed meanwhile wins",
        "app/services/users/account.py",
        "    if user.password_hash != proven_hash:",
        "    if False:",
        "tests/services/users/test_password_change.py",
    ),
    Guard(
        "a common password is refused",
        "app/services/auth/password_rules.py",
        "    if not is_guessable(normalized(password), known):",
        "    if True:",
        "tests/services/credentials/test_password_rules.py",
    ),
    Guard(
        "a short password is refused",
        "app/services/auth/password_rules.py",
        "    if length < MIN_LENGTH:",
        "    if False:",
        "tests/services/credentials/test_password_rules.py",
    ),
    Guard(
        "a link works once",
        "app/services/auth/one_time_links.py",
        "            OneTimeLink.used_at.is_(None),\n            OneTimeLink.expires_at > now,\n",
        "            OneTimeLink.expires_at > now,\n",
        "tests/services/credentials/test_one_time_links.py",
    ),
    Guard(
        "a link ends at its time",
        "app/services/auth/one_time_links.py",
        "            OneTimeLink.expires_at > utcnow(),\n",
        "",
        "tests/services/credentials/test_one_time_links.py",
    ),
    # Keys and tokens
    Guard(
        "an API key's secret must fit",
        "app/services/credentials/api_keys.py",
        "        or not secrets.fits(secret, found.secret_hash)\n",
        "",
        "tests/services/credentials/test_api_keys.py",
    ),
    Guard(
        "a revoked API key is refused",
        "app/services/credentials/api_keys.py",
        "        or found.revoked_at is not None\n        or found.suspended_at",
        "        or found.suspended_at",
        "tests/services/credentials/test_api_keys.py",
    ),
    Guard(
        "an API key ends at its time",
        "app/services/credentials/api_keys.py",
        "        or _over(found.expires_at, utcnow())\n",
        "",
        "tests/services/credentials/test_api_keys.py",
    ),
    Guard(
        "a suspended organization's key is refused",
        "app/services/credentials/api_keys.py",
        "    if found.status is not OrganizationStatus.ACTIVE:",
        "    if False:",
        "tests/services/credentials/test_api_keys.py",
    ),
    Guard(
        "a token of another area is refused",
        "app/services/credentials/tokens.py",
        " or area not in (None, client.area):",
        ":",
        "tests/services/credentials/test_tokens.py",
    ),
    Guard(
        "a token of a client that ended is refused",
        "app/services/credentials/tokens.py",
        "if found is None or not _in_force(found.client):",
        "if found is None:",
        "tests/services/credentials/test_tokens.py tests/api/oauth/test_removed_rights.py",
    ),
    Guard(
        "a token holds no more than its client may",
        "app/services/credentials/tokens.py",
        "    if not wanted <= allowed:",
        "    if False:",
        "tests/services/credentials/test_tokens.py tests/api/oauth/test_token_endpoint.py",
    ),
    Guard(
        "requests of a credential are limited",
        "app/api/operation.py",
        "        _buckets().take((g.caller.kind, g.caller.subject_id))\n",
        "",
        "tests/api/test_refusals.py",
    ),
    # What comes in
    Guard(
        "a name appears once in a JSON object",
        "app/api/json_body.py",
        "    if len(made) == len(pairs):",
        "    if True:",
        "tests/api/test_strict_json.py",
    ),
    Guard(
        "a body has a largest size",
        "app/api/json_body.py",
        "    request.max_content_length = limit\n",
        "",
        "tests/api/test_strict_json.py tests/api/test_refusals.py",
    ),
    Guard(
        "a callback needs the carrier's signature",
        "app/callbacks/twilio.py",
        "    if not is_genuine(token, url, request.form, signature):",
        "    if False:",
        "tests/gateways/test_twilio.py tests/jobs/test_twilio_calls.py",
    ),
    Guard(
        "webhooks reach public addresses only",
        "app/gateways/public_addresses.py",
        "    if address.is_multicast or not address.is_global:\n        return False\n",
        "",
        "tests/gateways/test_webhook_line.py tests/services/webhooks/test_endpoints.py",
    ),
    Guard(
        "an idempotency key belongs to one body",
        "app/services/idempotency.py",
        "    if record.request_hash != slot.request_hash:",
        "    if False:",
        "tests/api/public/test_calls.py",
    ),
    # What is done
    Guard(
        "an account that changed meanwhile is not overwritten",
        "app/services/users/account.py",
        "    if expected_version is not None and user.version != expected_version:",
        "    if False:",
        "tests/portal/test_account.py tests/portal/test_edit_conflicts.py",
    ),
    Guard(
        "a listed number is not called",
        "app/services/calls/rules.py",
        "    if not parties.on_do_not_call_list:",
        "    if True:",
        "tests/services/calls/test_accept.py",
    ),
    Guard(
        "trial mode allows only verified numbers",
        "app/services/calls/rules.py",
        "    if not parties.in_trial or parties.number_is_verified:",
        "    if True:",
        "tests/services/calls/test_trial_mode.py",
    ),
    Guard(
        "wrong verification codes are counted",
        "app/services/verified_numbers/changing.py",
        "    number.wrong_codes += 1\n",
        "    number.wrong_codes += 0\n",
        "tests/services/calls/test_verification_calls.py",
    ),
    Guard(
        "premium numbers are not called",
        "app/phone/destinations.py",
        '    PhoneNumberType.PREMIUM_RATE: "premium",\n',
        "",
        "tests/phone",
    ),
    Guard(
        "a region that is not open is not called",
        "app/phone/destinations.py",
        "            if region not in getattr(self, layer):",
        "            if False:",
        "tests/phone",
    ),
    Guard(
        "an organization has no more users than its limit",
        "app/services/organizations/limits.py",
        "    if organization.user_limit and (taken or 0) >= organization.user_limit:",
        "    if False:",
        "tests/services/users/test_seats.py",
    ),
    Guard(
        "the history is not changed",
        "migrations/versions/0032_append_only_history.py",
        "BEGIN SELECT RAISE(ABORT, 'The history is append-only.'); END",
        "BEGIN SELECT 1; END",
        "tests/services/audit/test_chain.py",
    ),
    Guard(
        "a changed row of the history is noticed",
        "app/services/audit/verification.py",
        "    if digest_of(content_of(entry)) != link.digest:",
        "    if False:",
        "tests/services/audit/test_chain.py",
    ),
)
