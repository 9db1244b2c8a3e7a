"""Users and groups of a partner's directory, which it provisions by SCIM.

`users` and `groups` are what the directory reads and writes; `access` gives users the role of their
groups; `choices` has the partner's settings for it. Every change of a user is made by
`app.services.users`, under its rules.
"""

PREFIX = "/scim/v2"
"""The URL path of the area."""
