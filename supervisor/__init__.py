"""The parent process of `make run`: starts web and worker, keeps them alive, stops them.

A package beside the application, on the standard library alone: it stays small and is still there
when the application can't be imported. Only `web_worker` and `gunicorn.conf.py` know gunicorn.
"""
