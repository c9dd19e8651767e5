"""torch's compiler bisector with its state in a folder of the search (torch/_inductor/compiler_bisector.py, torch 2.6 to 2.13)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from ..torch_internals import inductor


def load() -> Any:
    """The bisector's module, prepared for ``set_state``; None where this torch has none."""
    module: Any = inductor.BISECTOR_MODULE.look_up()
    if module is None:
        return None
    if not hasattr(module.CompilerBisector, inductor.BISECTOR_STATE_FOLDER.name):
        # torch 2.6 always keeps the state in the cache directory
        inductor.BISECTOR_STATE_FOLDER.put(None)
        inductor.BISECTOR_GET_DIR.put(
            classmethod(lambda cls: os.path.join(cls.in_process_cache or module.cache_dir(), module.SUBDIR_NAME))
        )
    cached_variables = inductor.BISECTOR_ENVIRONMENT.look_up()
    if cached_variables is not None:
        cached_variables.cache_clear()
    return module


def set_state(folder: str, enabled: bool) -> None:
    """Let the bisector keep its files in ``folder``; while it is not ``enabled``, compilation ignores them."""
    inductor.BISECTOR_ENABLED.set(enabled)
    inductor.BISECTOR_STATE_FOLDER.set(folder)


def no_state(scratch: str) -> str:
    """A folder that does not exist, so that the bisector finds no state, not even an old one in a cache directory."""
    return os.path.join(scratch, "no-bisection")


@contextlib.contextmanager
def paused(scratch: str) -> Iterator[None]:
    """Compile in the block without affecting the bisection of this process."""
    if load() is None:
        yield
        return
    before = inductor.BISECTOR_STATE_FOLDER.look_up(), inductor.BISECTOR_ENABLED.look_up()
    set_state(no_state(scratch), False)
    try:
        yield
    finally:
        set_state(*before)
