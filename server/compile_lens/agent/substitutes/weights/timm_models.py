"""``timm.create_model(…, pretrained=True)`` without weights: the model stays as its constructor made it.

``timm`` makes a model first and loads weights into it then, by one function (timm 1.0, models/_builder.py, ``load_pretrained``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ...runtime.missing_requirement import is_lack
from .lookups import Calls, reason
from .transformers_models import WEIGHTS

CONSTRUCTOR = "constructor"


class TimmModels:
    """The changes, each for the module that it is called with."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """By the name of the module."""
        return {"timm.models._builder": self._change}

    def _change(self, module: Any) -> None:
        original = module.load_pretrained

        @functools.wraps(original)
        def load_pretrained(model: Any, *args: Any, **named: Any) -> None:
            with self._calls.asking(WEIGHTS):
                try:
                    original(model, *args, **named)
                except Exception as error:
                    if not is_lack(error) or not self._calls.may_stand_in(error):
                        raise
                    facts = {"name": _name(model), "made": type(model).__name__, "origin": CONSTRUCTOR}
                    self._calls.made_up(WEIGHTS, why=reason(error), **facts)

        module.load_pretrained = load_pretrained


def _name(model: Any) -> str:
    known = getattr(model, "pretrained_cfg", None) or {}
    return str(known.get("hf_hub_id") or known.get("architecture") or type(model).__name__)
