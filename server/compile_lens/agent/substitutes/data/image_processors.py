"""Substitutes missing image processors and feature extractors of ``transformers`` with the defaults of their class."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ...runtime.missing_requirement import is_not_found
from ..weights.hub_files import any_here
from ..weights.lookups import Lookups, reason
from ..weights.transformers_models import architecture_of, wrap_from_pretrained

PROCESSOR = "processor"
FILES = {"preprocessor_config.json", "processor_config.json"}


class ImageProcessors:
    """Changes to modules, applied when they are imported."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        auto = "transformers.models.auto"
        return {
            "transformers.image_processing_base": lambda m: self._change(m.ImageProcessingMixin, _itself),
            "transformers.feature_extraction_utils": lambda m: self._change(m.FeatureExtractionMixin, _itself),
            f"{auto}.image_processing_auto": lambda m: self._change(
                m.AutoImageProcessor, functools.partial(_of_name, m.IMAGE_PROCESSOR_MAPPING_NAMES)
            ),
            f"{auto}.feature_extraction_auto": lambda m: self._change(
                m.AutoFeatureExtractor, functools.partial(_of_name, m.FEATURE_EXTRACTOR_MAPPING_NAMES)
            ),
        }

    def _change(self, owner: Any, choose: Callable[[Any, str], Any]) -> None:
        wrap_from_pretrained(owner, lambda original: functools.partial(self._processor, original, choose))

    def _processor(self, original: Any, choose: Callable[[Any, str], Any], cls: Any, *args: Any, **named: Any) -> Any:
        """Replaces ``from_pretrained``."""
        with self._lookups.lookup(PROCESSOR):
            try:
                return original(cls, *args, **named)
            except Exception as error:  # raised again unless files are missing
                name = str(args[0] if args else named.get("pretrained_model_name_or_path", ""))
                is_missing = is_not_found(error) or not any_here(name, FILES)
                chosen = choose(cls, name) if is_missing and self._lookups.may_substitute(error) else None
                if chosen is None:
                    raise
                made = chosen()
                self._lookups.substituted(PROCESSOR, why=reason(error), name=name, made=type(made).__name__)
                return made


def _itself(cls: Any, name: str) -> Any:
    return cls


def _of_name(names: Mapping[str, Any], cls: Any, name: str) -> Any:
    """The class for the architecture in ``name``: the first of its variants that can be imported."""
    kind = architecture_of(name, names)
    found = names.get(kind) if kind is not None else None
    variants = found if isinstance(found, (tuple, list)) else (found,)
    transformers = sys.modules["transformers"]
    return next((getattr(transformers, one, None) for one in variants if isinstance(one, str)), None)
