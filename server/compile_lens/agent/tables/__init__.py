"""Extracts what an installed torch says of itself: names, documentation, defaults, places. One module per kind of name."""
