"""Removes one guard at a time from a copy of the code, and checks that a test fails.

``python -m scripts.guards [NAME ...]``: all guards, or those whose name contains one of the words.
"""
