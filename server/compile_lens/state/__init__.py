"""What persists between sessions: consent, chosen entries, recorded calls, cache keys."""
