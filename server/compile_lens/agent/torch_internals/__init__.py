"""Every private name of torch that the agent relies on: one declared row each, with its versions and what is lost without it.

The rest of the agent asks these rows and never names a private part of torch itself (tests/test_boundaries.py).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from .lookup import Internal


def declared() -> Iterator[Internal]:
    """Every row, alone or in a tuple of rows."""
    for found in pkgutil.iter_modules(__path__):
        for value in vars(importlib.import_module(f"{__name__}.{found.name}")).values():
            for row in value if isinstance(value, tuple) else (value,):
                if isinstance(row, Internal):
                    yield row


def report_missing() -> None:
    """Report each row of an imported module that the installed torch should have and lacks; other rows are asked when they are used."""
    for row in declared():
        if row.is_expected and row.is_imported and not row.exists:
            row.report_missing()
