"""The sandbox of a run: what the operating system and Python hold."""
