"""Runs inside the user's interpreter: the standard library and torch only, Python 3.10 and later. The server imports its messages alone."""

import os

# frames of files in here are ours; with the separator, so that a prefix is a folder
OWN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
