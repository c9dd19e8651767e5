"""Collects the values of config options while a program compiled, from the records that end a compilation.

Source of the form: ``record_compilation_metrics`` in torch/_dynamo/utils.py (torch 2.13). The four texts are JSON of the modules'
``get_config_copy()`` when the compilation ended: what ``mode=`` and ``options=`` of a single ``torch.compile`` set is not in them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

MODULES = {
    "dynamo_config": "torch._dynamo.config",
    "inductor_config": "torch._inductor.config",
    "functorch_config": "torch._functorch.config",
    "compiler_config": "torch.compiler.config",
}
# in the place of a value that JSON cannot hold
_LEFT_OUT = "Value is not JSON serializable"


class OptionValue(Struct, frozen=True):
    """A value from the compilation ``compile_id`` on, as JSON holds it: a set or a tuple is a list."""

    value: Any
    compile_id: str


class _Change(Struct, frozen=True):
    module: str
    compile_id: str
    text: str


class OptionValues(Struct, frozen=True):
    """What is known of all options in one run. Nothing is parsed before it is asked for."""

    changes: tuple[_Change, ...] = ()

    def of(self, name: str) -> tuple[OptionValue, ...]:
        """The values of an option (``torch._dynamo.config.recompile_limit``) in the order of time; none when torch does not tell."""
        found: list[OptionValue] = []
        for change in self.changes:
            if not name.startswith(f"{change.module}."):
                continue
            values = _parsed(change.text)
            short = name.removeprefix(f"{change.module}.")
            if short not in values or values[short] == _LEFT_OUT:
                continue
            # `0 == False` for Python, not for an option
            if not found or repr(found[-1].value) != repr(values[short]):
                found.append(OptionValue(values[short], change.compile_id))
        return tuple(found)


NO_VALUES = OptionValues()


class OptionRecords:
    """Collects the values; a text that is the same as that of the compilation before is not kept."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}
        self._changes: list[_Change] = []

    def take(self, compile_id: str, fields: Mapping[str, Any]) -> None:
        """Take what metrics hold."""
        for key, module in MODULES.items():
            text = fields.get(key)
            if isinstance(text, str) and self._last.get(module) != text:
                self._last[module] = text
                self._changes.append(_Change(module, compile_id, text))

    def found(self) -> OptionValues:
        """What is known so far."""
        return OptionValues(tuple(self._changes))


@lru_cache(maxsize=32)
def _parsed(text: str) -> Mapping[str, Any]:
    """The values of one module; none where torch wrote a sentence instead (``Inductor Config cannot be pickled``)."""
    try:
        values = json.loads(text)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}
