"""docs/subsystems.md lists every room of the product with its size and what the corpora reach of it."""

from __future__ import annotations

import re

from tests.coverage_of_rules.__main__ import PAGE, PROSE
from tests.coverage_of_rules.instrument import PACKAGE
from tests.coverage_of_rules.report import room_of


def test_every_room_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    listed = {name.rstrip("/") for name in re.findall(r"^\| `([\w./]+)` \| [\d,]+ \|", text, re.MULTILINE)}
    with_functions = (
        file for file in PACKAGE.rglob("*.py") if re.search(r"^\s*(?:async )?def ", file.read_text(), re.M)
    )
    rooms = {room_of(str(file.relative_to(PACKAGE))) for file in with_functions}
    assert rooms - {"__main__.py", "agent"} <= listed, "run `python -m tests.coverage_of_rules --page`"
    assert PROSE in text
