"""Runs a script as far as it comes, past statements that fail here."""
