"""Substitutes missing ``transformers`` tokenizers with one of the library's own that needs no files: one token per byte.

This is ``ByT5Tokenizer`` (transformers 4.57, models/byt5). Its ids are below 270, so valid for any text model.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.missing_requirement import is_not_found
from .hub_files import any_here
from .lookups import Lookups, reason
from .transformers_models import wrap_from_pretrained

TOKENIZER = "tokenizer"
# tokens that most models have; ByT5Tokenizer itself defines padding, end and unknown
SPECIAL = {"bos_token": "<s>", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
# arguments that are valid for any tokenizer
KEPT = frozenset(
    {"padding_side", "truncation_side", "model_max_length", "pad_token", "eos_token", "unk_token", *SPECIAL}
)
CHAT = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
LONGEST = 1_000_000  # characters; a tokenizer without a limit reports a very large number


class Tokenizers:
    """Changes to modules, applied when they are imported."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        return {
            "transformers.tokenization_utils_base": lambda module: self._change(module, "PreTrainedTokenizerBase"),
            "transformers.models.auto.tokenization_auto": lambda module: self._change(module, "AutoTokenizer"),
        }

    def _change(self, module: Any, owner: str) -> None:
        wrap_from_pretrained(getattr(module, owner), lambda original: functools.partial(self._tokenizer, original))

    def _tokenizer(self, original: Any, cls: Any, *args: Any, **named: Any) -> Any:
        """Replaces ``from_pretrained`` of a tokenizer class."""
        name = str(args[0] if args else named.get("pretrained_model_name_or_path", ""))
        with self._lookups.lookup(TOKENIZER):
            try:
                loaded = original(cls, *args, **named)
            except Exception as error:  # raised again unless files are missing
                # without files, some versions continue until something else fails, such as a library that would convert them
                is_missing = is_not_found(error) or not any_here(name, _files(cls))
                made = _byte_tokenizer(cls, name, named) if is_missing and self._lookups.may_substitute(error) else None
                if made is None:
                    raise
                self._lookups.substituted(TOKENIZER, why=reason(error), name=name, made=type(made).__name__)
                return made
            # with a configuration that replaces the missing one, transformers 5 makes a tokenizer without a vocabulary
            why = self._lookups.why_without_configuration()
            made = None
            if why is not None and not any_here(name, _files(type(loaded))):
                made = _byte_tokenizer(cls, name, named)
            if made is None:
                return loaded
            self._lookups.substituted(TOKENIZER, why=why, name=name, made=type(made).__name__)
            return made


def _files(cls: Any) -> set[str]:
    return {"tokenizer.json", "tokenizer_config.json", *getattr(cls, "vocab_files_names", {}).values()}


def _byte_tokenizer(cls: Any, name: str, named: dict[str, Any]) -> Any:
    """A tokenizer whose tokens are bytes; None if it cannot be built, or if the model's vocabulary is known to be too small."""
    transformers = sys.modules["transformers"]
    chosen = {**SPECIAL, **{key: value for key, value in named.items() if key in KEPT}}
    inputs = getattr(cls, "model_input_names", None)
    if inputs and "input_ids" in inputs:
        chosen["model_input_names"] = list(inputs)
    config = attempted(lambda: transformers.AutoConfig.from_pretrained(name))
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and 0 < positions < LONGEST:
        chosen.setdefault("model_max_length", positions)
    chosen = {"extra_ids": 0, "chat_template": CHAT, **chosen}
    made = attempted(lambda: _with_larger_vocabulary(transformers.ByT5Tokenizer)(**chosen))
    return None if made is None or (getattr(config, "vocab_size", None) or len(made)) < len(made) else made


def _with_larger_vocabulary(base: Any) -> Any:
    """``base``, extended to decode ids that a model with a larger vocabulary generates."""

    class ByT5Tokenizer(base):
        def _convert_id_to_token(self, index: int) -> str:
            return str(super()._convert_id_to_token(self.offset + (int(index) - self.offset) % 256))

    return ByT5Tokenizer
