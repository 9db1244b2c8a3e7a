"""The number of decimals of each currency (ISO 4217); two for those not listed."""

OFFERED = (
    "USD",
    "EUR",
    "GBP",
    "AUD",
    "BHD",
    "BRL",
    "CAD",
    "CHF",
    "CLP",
    "CZK",
    "DKK",
    "HKD",
    "HUF",
    "INR",
    "JOD",
    "JPY",
    "KRW",
    "KWD",
    "MXN",
    "NOK",
    "NZD",
    "OMR",
    "PLN",
    "RON",
    "SEK",
    "SGD",
    "TND",
    "VND",
    "ZAR",
)
"""The currencies that a plan can have; the most common first."""

_NONE = [
    "BIF",
    "CLP",
    "DJF",
    "GNF",
    "ISK",
    "JPY",
    "KMF",
    "KRW",
    "PYG",
    "RWF",
    "UGX",
    "UYI",
    "VND",
    "VUV",
    "XAF",
    "XOF",
    "XPF",
]
_THREE = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]
_DECIMALS = {**dict.fromkeys(_NONE, 0), **dict.fromkeys(_THREE, 3)}


def decimals(currency: str) -> int:
    """Return the decimals of the currency with this code, in any case."""
    return _DECIMALS.get(currency.upper(), 2)
