"""What is remembered between runs and sessions: consent, entries, calls, cache keys."""
