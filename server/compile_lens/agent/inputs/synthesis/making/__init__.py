"""Constructs the objects that are called."""
