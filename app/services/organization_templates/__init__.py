"""Templates of organizations: owned by a partner, used for one organization or for many."""

from app.services.organization_templates.bulk_create import (
    BATCH_SIZE,
    CheckedRow,
    as_json,
    check_many,
    create_many,
    from_json,
    mail_owners,
)
from app.services.organization_templates.checking import InstallationBounds, check_campaign
from app.services.organization_templates.content import (
    PreparedCampaign,
    TemplateContent,
    content_of,
)
from app.services.organization_templates.creating import (
    OrganizationDetails,
    country_of,
    create_organization,
    zone_fits,
    zone_for,
)
from app.services.organization_templates.loading import OpenedTemplate, get_with_content, listing
from app.services.organization_templates.organization_files import (
    MAX_BYTES,
    MAX_ROWS,
    PARTS,
    OrganizationFile,
    OrganizationFileRow,
    corrected_file,
    from_lines,
    read_organizations,
    sample_file,
    to_lines,
)
from app.services.organization_templates.organization_names import texts_with_placeholder
from app.services.organization_templates.updating import (
    change,
    check_changes,
    create,
    delete,
    remove_assistant,
    save_assistant,
    save_campaign,
    save_organization,
)
