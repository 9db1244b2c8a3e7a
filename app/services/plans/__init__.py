"""The limits of plans, the effects of changing them on their organizations, and the plans that
payments choose."""
