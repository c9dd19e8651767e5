"""Constructs configuration objects: finds their class by annotation, attribute or name, and reduces the sizes in them."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any

from ....models.configuration_sizes import LAYERS, VOCABULARIES, WIDTHS, SizeTable, smaller_size
from ....runtime.foreign_code import attempted
from ..source.field_hints import field_hint
from ..terms.arguments import Argument, Constructed, Expression, literal
from .sibling_configurations import sibling_configurations

NAMES = re.compile(r"(?:\w*_)?(?:config|cfg|args|hparams|params|conf|opts?|hps|model_args)")
CLASSES = re.compile(r"\w*(?:Config|Configuration|Args|Arguments|Params|HParams|Cfg|Hyperparameters)")

# of a vocabulary that is -1 until a tokenizer is known
OPEN_VOCABULARY = 256
# from the smallest configuration to the class's defaults
LEVELS: tuple[SizeTable, ...] = ((*LAYERS, *VOCABULARIES, *WIDTHS), (*LAYERS, *VOCABULARIES), LAYERS, ())


def class_for(owner: Any, name: str, hint: Any, module: Any, is_annotated: bool = True) -> type | None:
    """The class of the configuration that the parameter ``name`` of ``owner`` takes, or None if it takes none.

    Not ``is_annotated``: ``hint`` is of a docstring, which may have been copied with the class that it is about.
    """
    is_config = isinstance(hint, type) and (dataclasses.is_dataclass(hint) or CLASSES.fullmatch(hint.__name__))
    if not is_config and NAMES.fullmatch(name) is None:
        return None
    own = getattr(owner, "config_class", None)
    if isinstance(own, type) and (not is_config or not is_annotated or issubclass(own, hint)):
        return own
    found = [
        value
        for key, value in vars(module).items()
        if isinstance(value, type) and CLASSES.fullmatch(key) and not inspect.isabstract(value)
    ]
    if is_config:
        # an annotation may name the base of all configurations, and the file uses one of them
        subclasses = [cls for cls in found if issubclass(cls, hint) and cls is not hint]
        found = subclasses if subclasses and hint.__module__ != module.__name__ else [hint]
    if not found:
        found = [cls for other in sibling_configurations(module) for cls in _named_alike(owner, other)]
    # the one whose name shares the longest prefix with the owner's: GPTConfig for GPTBlock
    owner_name = getattr(owner, "__name__", "")
    return max(
        found,
        key=lambda cls: (_common_prefix(cls.__name__, owner_name), cls.__module__ == module.__name__),
        default=None,
    )


def _named_alike(owner: Any, other: Any) -> list[type]:
    """The configurations that ``other`` defines and whose name begins as that of ``owner`` does: DecoderConfig for a DecoderLayer."""
    first = re.match(r"_*([A-Z]+(?![a-z])|[A-Z][a-z0-9]*|\w+)", getattr(owner, "__name__", ""))
    own = [cls for key, cls in vars(other).items() if isinstance(cls, type) and CLASSES.fullmatch(key)]
    own = [cls for cls in own if cls.__module__ == other.__name__ and not inspect.isabstract(cls)]
    alike = [cls for cls in own if first is not None and cls.__name__.startswith(first[1])]
    return alike or own[: len(own) == 1]


def lacking(cls: type, fields: tuple[str, ...]) -> set[str]:
    """Which of ``fields`` objects of ``cls`` do not have, as far as one that can be made, or its source, shows."""
    sample = attempted(cls) if not needed_by(cls) else None
    if sample is not None:
        return {name for name in fields if not hasattr(sample, name)}
    known = {*dir(cls), *(name for base in cls.__mro__ for name in getattr(base, "__annotations__", {}))}
    for base in cls.__mro__:
        code = getattr(vars(base).get("__init__"), "__code__", None)
        known |= {*getattr(code, "co_names", ()), *getattr(code, "co_varnames", ())}
    return set(fields) - known


def _common_prefix(one: str, other: str) -> int:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length


def variants(cls: type, path: str, fill: Any) -> Iterator[Argument]:
    """Calls that construct ``cls``, the smallest first. ``fill`` gives the argument for a required parameter, by name and hint."""
    required = tuple((name, fill(name, hint)) for name, hint in needed_by(cls))
    sample: Any = attempted(cls) if not required else None
    seen: set[str] = set()
    for level in LEVELS:
        shrunk = _shrunk(cls, sample, level)
        call = Constructed(path, (*required, *shrunk))
        text = call.render(str)
        if text not in seen:
            seen.add(text)
            yield call


def needed_by(cls: type) -> list[tuple[str, Any]]:
    """The required parameters of ``cls``, and their hints."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        (parameter.name, field_hint(cls, parameter.name, parameter.annotation) or parameter.annotation)
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def _shrunk(cls: type, sample: Any, level: SizeTable) -> tuple[tuple[str, Argument], ...]:
    """Keyword arguments that reduce each size that ``level`` names, and keep token ids inside the vocabulary."""
    if not level:
        return ()
    accepted = _accepted(cls)
    found: list[tuple[str, Argument]] = []
    for name, value in _settings(cls, sample):
        if accepted is not None and name not in accepted:
            continue
        small = _smaller(name, value, level)
        if small is not None:
            found.append((name, Expression(small)))
    return tuple(found)


def _accepted(cls: type) -> set[str] | None:
    """The names of keyword arguments; None when any name is accepted."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return None
    named = {parameter.name for parameter in parameters}
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    # a configuration with aliases keeps n_layer as num_hidden_layers: the names of its own constructor are enough
    return named - {"kwargs"} if len(named) > 2 or not takes_all else None


def _settings(cls: type, sample: Any) -> list[tuple[str, Any]]:
    """Names and default values of the constructor's parameters, and of the attributes of ``sample``."""
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


def _smaller(name: str, value: Any, level: SizeTable) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        is_open = value < 0 and any(re.fullmatch(pattern, name) for pattern, *_ in VOCABULARIES)
        size = OPEN_VOCABULARY if is_open else smaller_size(name, value, level)
        if size is not None:
            return str(size)
        is_token = name.endswith(("token_id", "token_index"))
        return "1" if is_token and any(row in VOCABULARIES for row in level) and value >= 256 else None
    if hasattr(value, "to_dict") and hasattr(value, "__dict__"):
        return _nested(value, level)
    return None


def _nested(config: Any, level: SizeTable) -> str | None:
    """A configuration inside another, as the dictionary that the outer constructor accepts."""
    inside: dict[str, Any] = {}
    kind = getattr(config, "model_type", "")
    if kind:
        inside["model_type"] = kind
    for name, value in vars(config).items():
        small = _smaller(name, value, level)
        if small is not None and not hasattr(value, "to_dict"):
            inside[name] = int(small)
    return literal(inside) if len(inside) > bool(kind) else None
