"""Organizations, the partners' customers: loading, plans, limits and status."""

from app.services.organizations.countries import check_country, usual_country
from app.services.organizations.creating import NewOrganization, create, duplicate_name_problems
from app.services.organizations.effects import effects
from app.services.organizations.limits import (
    USUAL_USER_LIMITS,
    claim_seat,
    no_seat,
    seats_taken,
    seats_taken_by,
)
from app.services.organizations.loading import (
    InTrial,
    LimitCloseness,
    OrganizationFilter,
    by_ids,
    check,
    count,
    find_by_name,
    find_by_names,
    get,
    get_in,
    listing,
    nearest_name,
    search,
    to_resource,
    visible,
)
from app.services.organizations.price_effects import plan_effects, price_effects
from app.services.organizations.settings import (
    CallingRules,
    OpenableRegions,
    change_settings,
    check_rules,
    last_changes,
    openable_of,
    rules_of,
)
from app.services.organizations.status import (
    ActiveItems,
    StoppedItems,
    archive,
    reach_of,
    reactivate,
    restore,
    suspend,
)
from app.services.organizations.trial import end_trial, trial_of
from app.services.organizations.updating import update
from app.services.organizations.usage import (
    RECENT_DAYS,
    OrganizationContents,
    OrganizationUsage,
    any_near_limit,
    get_with_usage,
    names_of,
    near_limits,
    usage_of,
    use_and_first_users_of,
)
from app.services.tenancy import get_organization_with_limits as get_with_limits
