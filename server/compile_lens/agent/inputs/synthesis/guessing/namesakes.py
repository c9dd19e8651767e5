"""Finds the class of a file that is called like a parameter."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

from ..project.concrete_classes import is_abstract

_OF_PARTS = re.compile(r"(?:Layer|Block|Cell|Loss|Stage|Wrapper|Base)\d*$")


def is_of_package(module: ModuleType, cls: type) -> bool:
    """Whether ``cls`` is one of the package that ``module`` is a part of."""
    return cls.__module__.partition(".")[0] == module.__name__.partition(".")[0]


def class_called(module: ModuleType, name: str) -> type | None:
    """The class in ``module`` that is called ``name``, however that is written."""
    word = name.replace("_", "").lower()
    classes = (each for each in vars(module).values() if isinstance(each, type))
    alike = (each for each in classes if each.__name__.replace("_", "").lower() == word)
    return next((each for each in alike if is_of_package(module, each)), None)


def model_called(module: ModuleType, owner: Any, name: str) -> type | None:
    """The model of ``module``, other than ``owner``, that is called like a parameter which takes one: `Encoder` for `encoder`, else the
    only one whose name contains it: `EncoderRNN`."""
    word = name.replace("_", "").lower()
    alike: list[type] = []
    for cls in vars(module).values():
        if not isinstance(cls, type) or cls.__module__ != module.__name__ or not hasattr(cls, "forward"):
            continue
        written = cls.__name__.replace("_", "").lower()
        if written == word and cls is not owner and not is_abstract(cls):
            return cls
        if word in written and len(word) > 4 and cls is not owner and not is_abstract(cls):
            alike.append(cls)
    whole = [cls for cls in alike if _OF_PARTS.search(cls.__name__) is None]
    return whole[0] if len(whole) == 1 else None
