"""Compares what compiled graphs compute with eager and fp64."""
