"""Spending and call rates in sentences."""

from app.languages import gettext, ngettext
from app.portal.web.formats import number
from app.services.billing.carrier_sums import CarrierSums
from app.services.money_format import micros


def spending_parts(sums: CarrierSums | None) -> str:
    """Return the parts of this month's spending besides reported costs; nothing for users who
    can't see costs."""
    if sums is None or sums.spending <= 0:
        return ""
    if not sums.estimated:
        return test_money_message(sums) or gettext("Reported by carriers")
    estimated = micros(sums.estimated, sums.currency)
    if sums.simulated <= 0:
        return gettext("With %(amount)s estimated", amount=estimated)
    return gettext(
        "With %(amount)s estimated and %(simulated)s test money for simulated calls",
        amount=estimated,
        simulated=micros(sums.simulated, sums.currency),
    )


def test_money_message(sums: CarrierSums | None) -> str:
    """Return what simulated calls add to this month's spending."""
    if sums is None or sums.simulated <= 0:
        return ""
    return gettext(
        "With %(amount)s test money for simulated calls",
        amount=micros(sums.simulated, sums.currency),
    )


def rates_message(count: int, currency: str, *, are_imported: bool) -> str:
    """Return how many call rates there are, and their source."""
    values = {"num": number(count), "currency": currency}
    if are_imported:
        return ngettext(
            "%(num)s rate in %(currency)s, from your file.",
            "%(num)s rates in %(currency)s, from your file.",
            count,
            **values,
        )
    return ngettext(
        "%(num)s built-in rate in %(currency)s, set high to be safe.",
        "%(num)s built-in rates in %(currency)s, set high to be safe.",
        count,
        **values,
    )
