"""Every private name of torch that the agent relies on: one declared row each, with its versions and what is lost without it.

The rest of the agent asks these rows and never names a private part of torch itself (tests/test_boundaries.py).
"""
