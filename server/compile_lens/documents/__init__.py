"""Open documents: snapshots, line indexes, and findings that move with edits."""
