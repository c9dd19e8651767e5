"""Runs inside the user's interpreter: the standard library and torch only, Python 3.10 and later. Never imported by the server."""
