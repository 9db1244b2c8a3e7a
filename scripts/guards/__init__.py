"""Removes one guard at a time from a copy of the code, and looks whether a test notices.

``python -m scripts.guards [NAME ...]``: all guards, or those whose name holds one of the words.
"""
