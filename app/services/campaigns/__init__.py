"""Campaigns: loading, states, assistants, and the lock on their contacts."""

from app.services.campaigns.lifecycle import (
    archive,
    assign_assistants,
    assistants_of,
    create,
    create_with_external_ids,
    lock_campaign,
    pause,
    record_change,
    rename,
    start,
)
from app.services.campaigns.loading import (
    SORTS,
    CampaignFilter,
    CampaignWithPlan,
    count,
    get,
    get_for_new_contacts,
    get_many,
    get_with_organization,
    get_with_plan,
    list_all,
    of_assistant,
    search,
    visible,
)
from app.services.campaigns.outreach import (
    external_id_keys,
    external_id_keys_of,
    lock,
    record_revision,
)
