"""The limits of plans, and the effects of changing them on their organizations."""
