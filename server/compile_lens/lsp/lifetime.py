"""Detects the end of the editor's process, so that the server ends with it."""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
import time

POLL_S = 0.5
# from the end of the connection to the end of the process, even if something hangs
EXIT_S = 2.0


def may_be_process(number: int) -> bool:
    """Whether a process may have this number: an editor may say anything of itself."""
    return 0 < number < 1 << 31


def end_within(seconds: float, code: int = 1) -> None:
    """End this process soon, whatever it does: a thread does it, since the event loop may be busy. Agents end when their input does."""
    timer = threading.Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()


def end_with(pid: int) -> None:
    """End this process soon after ``pid`` has ended, even if the event loop does not get to it."""

    def watch() -> None:
        try:
            if not hasattr(os, "pidfd_open"):
                raise OSError
            select.select([os.pidfd_open(pid)], [], [])
        except ProcessLookupError:
            pass
        except OSError:
            while _exists(pid):
                time.sleep(POLL_S)
        end_within(EXIT_S + 1)

    threading.Thread(target=watch, name="end of the editor", daemon=True).start()


def _exists(pid: int) -> bool:
    import psutil  # type: ignore[import-untyped]  # an editor waits for what this module is needed for first

    return bool(psutil.pid_exists(pid))


async def wait_for_exit(pid: int) -> None:
    """Return when the process ``pid`` has ended."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        except OSError:  # an old kernel, or a sandbox that blocks the call
            descriptor = -1
        if descriptor >= 0:
            await _readable(descriptor)
            return
    while _exists(pid):  # noqa: ASYNC110 - no event to wait for
        await asyncio.sleep(POLL_S)


async def _readable(descriptor: int) -> None:
    loop, gone = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, gone.set)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
