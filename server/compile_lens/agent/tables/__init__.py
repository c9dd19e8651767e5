"""Extracts names, documentation, defaults and source locations from an installed torch. One module per kind of name."""
