"""Answers what a constructor refuses of a configuration while it reads one: another word, or more keys of what it unpacks.

`get_encoder(config.encoder.type)` raises for a word that nobody registered, and `Encoder(**config.encoder.args)` for the arguments that it
lacks. With these, the constructor goes on, and shows what else it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol

from ..errors.accepted_instead import accepted_by
from ..errors.failing_lines import names_in_failing_lines
from ..errors.lacking_arguments import lacking_names


class PartOfConfiguration(Protocol):
    """One value that was read of a configuration. ``tried`` are the texts that it has been; ``keys`` what was looked up in it."""

    name: str
    value: Any
    tried: list[str]
    is_unpacked: bool
    keys: dict[str, Any]

    @property
    def is_plain(self) -> bool:
        """Whether nothing was read of it, or methods of texts alone."""

    def parts(self) -> Iterator[Any]:
        """What was read of it."""

    def become(self, text: str) -> None:
        """Be this text from now on."""

    def read(self, known: dict[str, Any], name: str) -> Any:
        """Have what is read as ``name``."""


def is_answered(values: list[PartOfConfiguration], error: BaseException) -> bool:
    """Whether something in ``values`` has been changed that may avoid ``error``."""
    known = [inner for value in values for inner in _all_of(value)][::-1]
    lacking = lacking_names(error)
    for each in known if lacking else ():
        if each.is_unpacked and not {*lacking} & {*each.keys}:
            for name in lacking:
                each.read(each.keys, name)
            return True
    words = [word for word in accepted_by(error) if isinstance(word, str)]
    for each in _refused(known, error) if words else ():
        # a condition may look it up by its name: `getattr(config, "is_checked", False)`
        left = [word for word in words if word not in (*each.tried, each.value, each.name)]
        if left:
            each.become(left[0])
            return True
    return False


def _all_of(value: PartOfConfiguration) -> Iterator[PartOfConfiguration]:
    yield value
    for part in value.parts() if not value.is_plain else ():
        yield from _all_of(part)


def _refused(known: list[PartOfConfiguration], error: BaseException) -> list[PartOfConfiguration]:
    """The words and numbers that ``error`` quotes, then those whose names stand in the failing lines."""
    text, in_lines = str(error), names_in_failing_lines(error)
    plain = [each for each in known if each.is_plain and isinstance(each.value, (int, str))]
    quoted = [each for each in plain if re.search(rf"(?<![\w.]){re.escape(str(each.value))}(?![\w.])", text)]
    named = [each for each in plain if each.name in in_lines]
    return sorted(quoted, key=lambda each: each.name not in in_lines) or named
