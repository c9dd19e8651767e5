"""Notes modules whose constructors raised: neither they nor the parts that they had made by then are models that the program uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


class UnfinishedModules:
    """One per program."""

    def __init__(self) -> None:
        self._ended: set[int] = set()
        self._parts: set[int] = set()

    def note(self, error: BaseException, made: Sequence[Any]) -> None:
        """``error`` has ended a statement; ``made`` are all modules of the program, in the order in which it has made them."""
        for module in _in_constructors(error):
            number = next((number for number, each in enumerate(made) if each is module), None)
            if number is not None:
                self._ended.add(id(module))
                # a constructor makes its parts after it has run that of its base
                self._parts.update(map(id, made[number:]))

    def __contains__(self, module: Any) -> bool:
        return id(module) in self._parts

    def is_part(self, module: Any) -> bool:
        """Whether it is finished itself, and was made for one that is not."""
        return module in self and id(module) not in self._ended


def _in_constructors(error: BaseException) -> Iterator[Any]:
    """The modules whose constructors ``error`` has ended, the outermost first."""
    import torch

    entry = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if code.co_name == "__init__" and code.co_argcount:
            module = entry.tb_frame.f_locals.get(code.co_varnames[0])
            if isinstance(module, torch.nn.Module):
                yield module
        entry = entry.tb_next
