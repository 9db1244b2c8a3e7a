"""Webhooks: signed events about organizations and portals, retried until they are accepted.

`publishing` writes events in the transaction of their change, `delivering` sends them to their
endpoint step by step, `endpoints` and `deliveries` are the actions of users and commands.
"""
