"""Tries Compile Lens with each torch and each Python that this machine can get: ``make compat``.

The results are kept in ``results.json``, and docs/compatibility.md is made of them.
"""
