"""The number of decimals of each currency (ISO 4217); two for those not listed."""

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
