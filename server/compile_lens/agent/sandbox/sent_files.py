"""Answers Python's ``os.sendfile`` in a sandbox whose filter refuses the call (syscall_filter.py): what copies files by it goes on without.

Programs know several answers of systems that do not send files, and each knows others. libuv, the C++ library and Rust go on for the
filter's answer, as ``shutil``, ``socket`` and ``asyncio`` do for any at the first call. ``pathlib`` goes on for one alone, that of a system
which sends files to sockets only (Lib/pathlib/_os.py in Python 3.14, ``copyfileobj``).
"""

from __future__ import annotations

import errno
import functools
import os
from typing import Any

from ..runtime.dynamo_skips import skip_functions

FILTERS, PYTHONS = errno.EINVAL, errno.ENOTSOCK


def answer_as_where_only_sockets_are_sent_to() -> None:
    """From now on ``os.sendfile`` raises what the modules of Python know, in place of the filter's answer."""
    call = getattr(os, "sendfile", None)
    if call is None:
        return

    @functools.wraps(call)
    def sendfile(*arguments: Any, **named: Any) -> Any:
        try:
            return call(*arguments, **named)
        except OSError as error:
            if error.errno != FILTERS:
                raise
        raise OSError(PYTHONS, os.strerror(PYTHONS))

    skip_functions(sendfile)
    setattr(os, "sendfile", sendfile)  # noqa: B010 - not on every system
