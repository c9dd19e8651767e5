"""Tries calls, and changes what made them fail."""
