"""Twilio, or what speaks its language, as the carrier. `line` makes the calls; `reading`,
`speaking` and `signing` are for its callbacks."""
