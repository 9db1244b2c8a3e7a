"""The contacts of a campaign: list, page, form, export."""
