"""Rewrites: one module per family, each from a finding and the source tree of its file to ``Fix``es. Pure text in, edits out."""
