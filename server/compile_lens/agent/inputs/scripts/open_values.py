"""Makes up the settings that a program leaves open (`source: ???`): a library raises as soon as one is read."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from ...runtime.foreign_code import attempted
from ..importing.made_up_arguments import value_for
from .composed_settings import MISSING

# a class of settings in another may leave some open itself
_DEEPEST = 3
_NUMBER = re.compile(
    r"(?:^|_)(?:n|num|number|size|dims?|channels|features|classes|width|depth|height|length|len|hidden|layers|heads|batch|epochs|steps|seed|count"
    r"|workers|gpus|rank|iters?|max|min)(?:_|$)"
)
_SHARE = re.compile(r"(?:^|_)(?:lr|rate|ratio|dropout|decay|momentum|alpha|beta|gamma|eps|weight)(?:_|$)")
SIZE, SHARE = 8, 0.1


def fill(settings: Any) -> tuple[str, ...]:
    """Give what is left open in ``settings`` a value, by its name and, where the library knows that, by its type; the names."""
    library = sys.modules.get("omegaconf")
    if library is not None and attempted(lambda: library.OmegaConf.is_config(settings)):
        return tuple(_filled_by(library.OmegaConf, settings))
    return tuple(_filled(settings, ""))


def _filled_by(library: Any, settings: Any) -> Iterator[str]:
    for _ in range(_DEEPEST):
        lacking = sorted(attempted(lambda: library.missing_keys(settings)) or ())
        if not lacking:
            return
        for path in lacking:
            # it refuses what is not of the type of the setting
            for value in _values(path):
                if attempted(lambda path=path, value=value: [library.update(settings, path, value)]) is not None:  # type: ignore[misc]
                    yield path
                    break


def _filled(settings: Any, path: str) -> Iterator[str]:
    items = (
        settings.items() if isinstance(settings, dict) else enumerate(settings) if isinstance(settings, list) else ()
    )
    for key, value in list(items):
        inside = f"{path}.{key}" if path else str(key)
        if value == MISSING:
            settings[key] = next(_values(inside))
            yield inside
        else:
            yield from _filled(value, inside)


def _values(path: str) -> Iterator[Any]:
    """Values for the setting ``path``, the likeliest first."""
    name = re.sub(r"\[\d+\]$", "", path.rpartition(".")[2])
    numbers = [SHARE, SIZE] if _SHARE.search(name) else [SIZE, SHARE]
    text = value_for(name)
    is_number = _SHARE.search(name) or _NUMBER.search(name)
    yield from [*numbers, text] if is_number else [text, *numbers]
    yield from (False, {}, [])


def registered(name: str) -> Any:
    """The settings that the program has registered as ``name`` with a library which composes them (Hydra); None where there are none."""
    library = sys.modules.get("hydra")
    return None if library is None else attempted(lambda: _composed_by(library, name))


def _composed_by(library: Any, name: str) -> Any:
    # the library has only one set of settings at a time, and may have ended in the middle of the program
    importlib.import_module("hydra.core.global_hydra").GlobalHydra.instance().clear()
    with library.initialize(version_base=None, config_path=None):
        return library.compose(config_name=name)
