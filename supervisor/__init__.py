"""The parent process of `make run`: starts web and worker, restarts them, stops them.

A separate package that uses only the standard library: it stays small and works even if the
application can't be imported. Only `web_worker` and `gunicorn.conf.py` use gunicorn.
"""
