"""Observes what torch does during a run: the trace sink, notes, log records, stacks, and how far a run compiles."""
