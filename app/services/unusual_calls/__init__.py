"""Calls that are unusual for an organization pause its calling until a user resumes it.

`counting` stores the calls of each hour, `judging` compares them with those of four weeks,
`pausing` pauses, notifies and resumes.
"""

from app.services.unusual_calls.judging import UnusualCallRules
from app.services.unusual_calls.pausing import check, resume
