"""Tokenizers of ``transformers`` whose files are not there: one of the library's own that needs none stands in, a token for each byte.

``ByT5Tokenizer`` (transformers 4.57, models/byt5). Its ids are below 270, so inside the vocabulary of any model for text.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ...runtime.missing_requirement import is_lack
from .hub_files import any_here
from .lookups import Calls, reason
from .transformers_models import wrap_class_method

TOKENIZER = "tokenizer"
# those that most models have; padding, end and unknown are its own
SPECIAL = {"bos_token": "<s>", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
# what a call may say of it that holds for any tokenizer
KEPT = frozenset(
    {"padding_side", "truncation_side", "model_max_length", "pad_token", "eos_token", "unk_token", *SPECIAL}
)
CHAT = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
LONGEST = 1_000_000  # characters; what a tokenizer says that knows no limit is a very large number


class Tokenizers:
    """The changes, each for the module that it is called with."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """By the name of the module."""
        return {
            "transformers.tokenization_utils_base": lambda module: self._change(module, "PreTrainedTokenizerBase"),
            "transformers.models.auto.tokenization_auto": lambda module: self._change(module, "AutoTokenizer"),
        }

    def _change(self, module: Any, owner: str) -> None:
        wrap_class_method(getattr(module, owner), lambda original: functools.partial(self._tokenizer, original))

    def _tokenizer(self, original: Any, cls: Any, *args: Any, **named: Any) -> Any:
        """Stands for ``from_pretrained`` of a class of tokenizers."""
        with self._calls.asking(TOKENIZER):
            try:
                return original(cls, *args, **named)
            except Exception as error:
                name = str(args[0] if args else named.get("pretrained_model_name_or_path", ""))
                # without files some versions go on until something else is amiss, such as a library that would convert them
                is_lacking = is_lack(error) or not any_here(name, _files(cls))
                made = _of_bytes(cls, name, named) if is_lacking and self._calls.may_stand_in(error) else None
                if made is None:
                    raise
                self._calls.made_up(TOKENIZER, why=reason(error), name=name, made=type(made).__name__)
                return made


def _files(cls: Any) -> set[str]:
    return {"tokenizer.json", "tokenizer_config.json", *getattr(cls, "vocab_files_names", {}).values()}


def _of_bytes(cls: Any, name: str, named: dict[str, Any]) -> Any:
    """A tokenizer whose tokens are bytes; None if there is no such thing, or if the model's vocabulary is known to be too small for it."""
    transformers = sys.modules["transformers"]
    chosen = {**SPECIAL, **{key: value for key, value in named.items() if key in KEPT}}
    inputs = getattr(cls, "model_input_names", None)
    if inputs and "input_ids" in inputs:
        chosen["model_input_names"] = list(inputs)
    try:
        config = transformers.AutoConfig.from_pretrained(name)
    except Exception:
        config = None
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and 0 < positions < LONGEST:
        chosen.setdefault("model_max_length", positions)
    try:
        made = _class_of_bytes(transformers.ByT5Tokenizer)(extra_ids=0, chat_template=CHAT, **chosen)
    except Exception:
        return None
    return None if (getattr(config, "vocab_size", None) or len(made)) < len(made) else made


def _class_of_bytes(base: Any) -> Any:
    """``base`` that also decodes what a model with a larger vocabulary generates."""

    class ByT5Tokenizer(base):
        def _convert_id_to_token(self, index: int) -> str:
            return str(super()._convert_id_to_token(self.offset + (int(index) - self.offset) % 256))

    return ByT5Tokenizer
