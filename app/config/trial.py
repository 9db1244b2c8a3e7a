"""Trial mode of new partners and organizations, and the calls that verify numbers."""

from typing import NamedTuple

from pydantic import Field

from app.config.base import CommonSettings


class TrialLimits(NamedTuple):
    """Calls are per day (UTC); ``numbers`` are those that an organization has verified."""

    calls_per_organization: int = 10
    calls_per_partner: int = 25
    numbers: int = 10
    verification_calls_per_number: int = 3
    verification_calls_per_organization: int = 5
    verification_calls_per_partner: int = 10


DEFAULT_LIMITS = TrialLimits()


class TrialSettings(CommonSettings):
    """A partner's trial ends when the operator ends it. An organization's trial ends when its
    partner ends it."""

    new_organizations_in_trial: bool = True
    """Whether new organizations start in trial mode, also if their partner is out of it."""
    trial_calls_per_organization: int = Field(DEFAULT_LIMITS.calls_per_organization, ge=1)
    """Live calls a day (UTC) of an organization in trial mode."""
    trial_calls_per_partner: int = Field(DEFAULT_LIMITS.calls_per_partner, ge=1)
    """Live calls a day (UTC) of all organizations of a partner that are in trial mode."""
    verified_numbers: int = Field(DEFAULT_LIMITS.numbers, ge=1)
    """Numbers that an organization can verify."""
    verification_calls_per_number: int = Field(DEFAULT_LIMITS.verification_calls_per_number, ge=1)
    """Verification calls a day (UTC) to one number, over all partners."""
    verification_calls_per_organization: int = Field(
        DEFAULT_LIMITS.verification_calls_per_organization, ge=1
    )
    """Verification calls a day (UTC) of one organization."""
    verification_calls_per_partner: int = Field(DEFAULT_LIMITS.verification_calls_per_partner, ge=1)
    """Verification calls a day (UTC) of one partner."""

    @property
    def trial_limits(self) -> TrialLimits:
        return TrialLimits(
            calls_per_organization=self.trial_calls_per_organization,
            calls_per_partner=self.trial_calls_per_partner,
            numbers=self.verified_numbers,
            verification_calls_per_number=self.verification_calls_per_number,
            verification_calls_per_organization=self.verification_calls_per_organization,
            verification_calls_per_partner=self.verification_calls_per_partner,
        )
