"""Evaluates calls: within limits of time and memory, ahead in a fork, and where the object is that is called."""
