"""Any SIP trunk as the carrier, through baresip.

`line` is the carrier. Each call has a `process` of its own, whose `call_session` drives one baresip
(`phone`) through its control socket, listens to who answers (`hearing`) and speaks (`speaking`).
It outlives the worker that started it; both know of each other through the call's `ledger` alone.
"""
