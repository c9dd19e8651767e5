"""What all tests share: the option that accepts findings into fixtures, and the warm host."""

from __future__ import annotations

import pytest

from warm_host import warm_host as _warm_host

warm_host = pytest.fixture(scope="session")(_warm_host)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-fixtures", action="store_true", help="write what is found into the comments of tests/fixtures"
    )
