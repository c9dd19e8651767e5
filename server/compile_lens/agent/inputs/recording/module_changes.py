"""What a program changes of a model between two of its calls: numbers and flags that torch compiles in, and which parameters are trained.

What ``forward`` itself changes, such as a count of its calls, is not among it: a call that is made again changes it again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...runtime.foreign_code import attempted

# more parts are not looked through before and after every call
MOST_PARTS = 4000
_PLAIN = (bool, int, float, str, type(None))
_REQUIRES_GRAD, _MODE = "requires_grad", "training"
# by the path of a module or a parameter in the model, and the name of the attribute
Settings = dict[tuple[str, str], Any]
Change = tuple[str, str, Any]


def settings_of(model: Any, with_mode: bool = True) -> Settings:
    """The plain attributes of ``model`` and its parts, without torch's own; ``with_mode``: and whether each is in training mode."""
    return attempted(lambda: dict(_settings(model, with_mode))) or {}


def _settings(model: Any, with_mode: bool) -> Iterator[tuple[tuple[str, str], Any]]:
    import torch

    torchs_own = vars(torch.nn.Module()).keys() - ({_MODE} if with_mode else set())
    for count, (path, part) in enumerate(model.named_modules()):
        if count == MOST_PARTS:
            return
        for name, value in vars(part).items():
            if type(value) in _PLAIN and name not in torchs_own:
                yield (path, name), value
    for path, parameter in model.named_parameters():
        yield (path, _REQUIRES_GRAD), parameter.requires_grad


def differing(before: Settings, after: Settings) -> set[tuple[str, str]]:
    """What has another value in ``after``, where both have it."""
    return {
        key
        for key, value in after.items()
        if key in before and (type(value) is not type(before[key]) or value != before[key])
    }


def make(model: Any, changes: tuple[Change, ...]) -> None:
    """Give the parts of ``model`` the values that the program gave them."""
    parameters = dict(model.named_parameters())
    for path, name, value in changes:
        owner = parameters[path] if path in parameters else model.get_submodule(path)
        setattr(owner, name, value)


@contextlib.contextmanager
def undone(model: Any, changes: list[tuple[Change, ...]]) -> Iterator[None]:
    """Whatever of ``changes`` the body makes, ``model`` is afterwards as it was."""
    before = settings_of(model) if any(changes) else {}
    changed = {(path, name) for each in changes for path, name, _ in each}
    try:
        yield
    finally:
        make(model, tuple((path, name, value) for (path, name), value in before.items() if (path, name) in changed))
