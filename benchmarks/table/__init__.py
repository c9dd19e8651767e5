"""The table of speed and memory: rows with a baseline of the same run, a goal and a verdict, as JSON and as docs/performance.md."""
