"""Calls regions of a run again with other inputs, to see which of them are compiled again, break or fail."""
