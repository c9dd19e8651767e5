"""Runs a file by another entry than as a script: example inputs, doctests, a test that reaches it, or synthesized inputs."""
