"""Substitutes for data sets, arrays and processors that are not on this machine: a few batches with the right types and shapes."""
