"""Any SIP trunk as the carrier, through baresip.

`carrier` is the carrier itself. Each call has a `process` of its own. Its `call_session` controls
one baresip (`phone`) through the control socket, detects who answers (`voicemail_detection`) and
plays messages (`speech`). The process outlives the worker that started it; both share only
the call's `ledger`.
"""
