"""``timm.create_model(…, pretrained=True)`` without weights: the model keeps those that its constructor initialized.

``timm`` first builds a model and then loads weights into it in one function (timm 1.0, models/_builder.py, ``load_pretrained``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ...runtime.missing_requirement import is_not_found
from .lookups import Lookups, reason
from .transformers_models import WEIGHTS

CONSTRUCTOR = "constructor"


class TimmModels:
    """Changes to modules, applied when they are imported."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        return {"timm.models._builder": self._change}

    def _change(self, module: Any) -> None:
        original = module.load_pretrained

        @functools.wraps(original)
        def load_pretrained(model: Any, *args: Any, **named: Any) -> None:
            with self._lookups.lookup(WEIGHTS):
                try:
                    original(model, *args, **named)
                except Exception as error:  # raised again unless it says that weights are missing
                    if not is_not_found(error) or not self._lookups.may_substitute(error):
                        raise
                    facts = {"name": _name(model), "made": type(model).__name__, "origin": CONSTRUCTOR}
                    self._lookups.substituted(WEIGHTS, why=reason(error), **facts)

        module.load_pretrained = load_pretrained


def _name(model: Any) -> str:
    known = getattr(model, "pretrained_cfg", None) or {}
    return str(known.get("hf_hub_id") or known.get("architecture") or type(model).__name__)
