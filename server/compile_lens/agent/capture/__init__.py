"""Captures what a repro needs of a run: calls of compile regions with their inputs, constructors of modules, and source."""
