"""Alerts: rules over the figures of a partner, and the alerts that they open.

`rules` keeps the rules, `measuring` reads the figures, `evaluating` opens and resolves alerts,
`listing` shows and acknowledges them, `labels` describes both.
"""

from app.services.alerts.evaluating import apply, changes
from app.services.alerts.labels import UNITS, uses_period
from app.services.alerts.listing import (
    AlertView,
    acknowledge,
    any_open,
    nearest,
    open_alerts,
    search,
    titles,
)
from app.services.alerts.measuring import period_starts
from app.services.alerts.rules import (
    EXISTS,
    MUTE_DAYS,
    RuleInput,
    create,
    get,
    listing,
    mute,
    remove,
    sentences_of,
    update,
)
