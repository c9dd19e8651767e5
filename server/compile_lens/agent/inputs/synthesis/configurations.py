"""Configuration objects: found by annotation, attribute or name, and shrunk where their names say how large something is."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any

from .arguments import Argument, Made, Plain, literal

NAMES = re.compile(r"(?:\w*_)?(?:config|cfg|args|hparams|params|conf|opts?|hps|model_args)")
CLASSES = re.compile(r"\w*(?:Config|Configuration|Args|Arguments|Params|HParams|Cfg|Hyperparameters)")

# what a shrunk configuration has instead of its own larger number
LAYERS: tuple[tuple[str, int], ...] = (
    (
        r"(?:.*_)?(?:num_hidden_layers|num_layers|n_layers?|num_encoder_layers|num_decoder_layers|encoder_layers|decoder_layers|num_blocks|depth|layers)",
        2,
    ),
)
TABLES: tuple[tuple[str, int], ...] = ((r"(?:.*_)?(?:vocab_size|vocabulary_size|n_vocab|num_tokens)", 256),)
WIDTHS: tuple[tuple[str, int], ...] = (
    (r"(?:.*_)?(?:kv_lora_rank|q_lora_rank|qk_rope_head_dim|qk_nope_head_dim|v_head_dim)", 16),
    (r"(?:.*_)?(?:head_dim|d_kv|d_head)", 16),
    (
        r"(?:.*_)?(?:hidden_size|d_model|dim|n_embd|embed_dim|embedding_size|emb_dim|hidden_dim|width|word_embed_proj_dim|projection_dim)",
        64,
    ),
    (r"(?:.*_)?(?:intermediate_size|ffn_dim|d_ff|d_inner|n_inner|mlp_dim|ffn_hidden_size|feed_forward_size)", 128),
    (r"(?:.*_)?(?:num_attention_heads|n_heads?|num_heads|attention_heads)", 4),
    (r"(?:.*_)?(?:num_key_value_heads|n_kv_heads?|num_kv_heads)", 2),
    (r"(?:.*_)?(?:num_local_experts|num_experts|n_routed_experts)", 4),
)
# from the smallest to the object as it is
LEVELS = ((*LAYERS, *TABLES, *WIDTHS), (*LAYERS, *TABLES), LAYERS, ())


def class_for(owner: Any, name: str, hint: Any, module: Any) -> type | None:
    """The class of the configuration that the parameter ``name`` of ``owner`` takes, or None if it takes none."""
    is_config = isinstance(hint, type) and (dataclasses.is_dataclass(hint) or CLASSES.fullmatch(hint.__name__))
    if not is_config and NAMES.fullmatch(name) is None:
        return None
    own = getattr(owner, "config_class", None)
    if isinstance(own, type) and (not is_config or issubclass(own, hint)):
        return own
    found = [
        value
        for key, value in vars(module).items()
        if isinstance(value, type) and CLASSES.fullmatch(key) and not inspect.isabstract(value)
    ]
    if is_config:
        # an annotation may name the base of all configurations, and the file uses one of them
        special = [cls for cls in found if issubclass(cls, hint) and cls is not hint]
        found = special if special and hint.__module__ != module.__name__ else [hint]
    # the one whose name shares most with the owner's: GPTConfig for GPTBlock
    owner_name = getattr(owner, "__name__", "")
    return max(
        found, key=lambda cls: (_common(cls.__name__, owner_name), cls.__module__ == module.__name__), default=None
    )


def _common(one: str, other: str) -> int:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length


def variants(cls: type, path: str, fill: Any) -> Iterator[Argument]:
    """Calls that make ``cls``, the smallest first. ``fill`` gives an argument for a required parameter of a name and a hint."""
    required = _required(cls, fill)
    try:
        sample: Any = cls() if not required else None
    except Exception:
        sample = None
    seen: set[str] = set()
    for level in LEVELS:
        shrunk = _shrunk(cls, sample, level)
        made = Made(path, (*required, *shrunk))
        text = made.render(str)
        if text not in seen:
            seen.add(text)
            yield made


def _required(cls: type, fill: Any) -> tuple[tuple[str, Argument], ...]:
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(
        (parameter.name, fill(parameter.name, parameter.annotation))
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    )


def _shrunk(cls: type, sample: Any, level: tuple[tuple[str, int], ...]) -> tuple[tuple[str, Argument], ...]:
    """Keyword arguments that make each number that the level names smaller, and keep numbers of tokens inside the vocabulary."""
    if not level:
        return ()
    accepted = _accepted(cls)
    found: list[tuple[str, Argument]] = []
    for name, value in _settings(cls, sample):
        if accepted is not None and name not in accepted:
            continue
        small = _smaller(name, value, level)
        if small is not None:
            found.append((name, Plain(small)))
    return tuple(found)


def _accepted(cls: type) -> set[str] | None:
    """The names of keyword arguments; None when all are taken."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return None
    named = {parameter.name for parameter in parameters}
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    # a configuration with aliases keeps n_layer as num_hidden_layers: the names of its own constructor are enough
    return named - {"kwargs"} if len(named) > 2 or not takes_all else None


def _settings(cls: type, sample: Any) -> list[tuple[str, Any]]:
    """Names and default values: of an object that could be made, of its class's parameters besides."""
    values: dict[str, Any] = {}
    try:
        for parameter in inspect.signature(cls).parameters.values():
            if parameter.default is not parameter.empty:
                values[parameter.name] = parameter.default
    except (TypeError, ValueError):
        pass
    if sample is not None and hasattr(sample, "__dict__"):
        for name, value in vars(sample).items():
            if not name.startswith("_") and (values.get(name) is None or hasattr(value, "__dict__")):
                values[name] = value
    return list(values.items())


def _smaller(name: str, value: Any, level: tuple[tuple[str, int], ...]) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        size = next((small for pattern, small in level if re.fullmatch(pattern, name)), None)
        if size is not None and value > size:
            return str(size)
        is_token = name.endswith(("token_id", "token_index"))
        return "1" if is_token and any(level_part in TABLES for level_part in level) and value >= 256 else None
    if hasattr(value, "to_dict") and hasattr(value, "__dict__"):
        return _nested(value, level)
    return None


def _nested(config: Any, level: tuple[tuple[str, int], ...]) -> str | None:
    """A configuration inside another, as the dictionary that the outer one takes for it."""
    inside: dict[str, Any] = {}
    kind = getattr(config, "model_type", "")
    if kind:
        inside["model_type"] = kind
    for name, value in vars(config).items():
        small = _smaller(name, value, level)
        if small is not None and not hasattr(value, "to_dict"):
            inside[name] = int(small)
    return literal(inside) if len(inside) > bool(kind) else None
