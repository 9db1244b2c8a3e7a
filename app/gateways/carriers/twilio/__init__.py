"""Twilio, or a compatible API, as the carrier. `carrier` places the calls; `call_reports` and
`twiml` serve its callbacks."""
