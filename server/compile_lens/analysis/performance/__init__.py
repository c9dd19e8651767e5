"""Findings about speed that is lost without anything being broken; one module per cause."""
