"""`make security`: static checks, known vulnerabilities, and random requests as each role.

Each part reports findings. A finding is closed by a fix, or by a reason on the line or in a comment
above it: ``# noqa: S608 - reason`` (ruff's number of a check of bandit), ``# nosec B105 - reason``
or ``# nosemgrep: rule - reason``. Any open finding makes the command fail. A part whose data can't
be reached says that it wasn't checked.
"""
