"""Turns a job into an outcome: which entry runs, on which host, and what is found."""
