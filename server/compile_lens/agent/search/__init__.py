"""Runs a repro many times to find what fails: bisection and minimization."""
