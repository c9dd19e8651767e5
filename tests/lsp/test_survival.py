"""What happens to a real server, with real torch: its workers are killed, the machine sleeps, its editor dies."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from editor import REAL, editor
from programs import until
from test_real import BREAK, ENDLESS, PROGRAM, mark, write

from processes import Mark

__all__ = ["mark"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
ASLEEP_S = 2.0


def send_to(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)


async def test_lost_workers_a_sleep_and_the_editors_death(root: Path, mark: Mark) -> None:
    begun = root.parent / "begun"
    options = {
        "python": sys.executable,
        "run": {"enabled": "always", "arguments": [str(begun)]},
        "sandbox": {"allowWrite": [str(root.parent)]},
    }
    async with editor(root.parent, REAL) as ed:
        parent = await asyncio.create_subprocess_exec("sleep", "1000", env={})
        await ed.initialize(root, options, processId=parent.pid)
        uri = await ed.open(write(root, ENDLESS))
        for pause in (1, 2):
            await until(begun.exists)
            begun.unlink()
            since = ed.mark()
            send_to([pid for pid in mark.alive() if pid != ed.process.pid], signal.SIGKILL)
            problem = await ed.status(since, health="warning")
            waits = f"The next background run starts in {pause} s."
            assert problem["message"] == f"The process that analyzed train.py ended unexpectedly. {waits}"
            await ed.save(uri)

        await until(begun.exists)  # in spite of them the third try runs
        everything = mark.alive()
        send_to(everything, signal.SIGSTOP)
        await asyncio.sleep(ASLEEP_S)
        send_to(everything, signal.SIGCONT)
        since = ed.mark()
        write(root, PROGRAM)
        await ed.change(uri, 2, {"text": PROGRAM})
        await ed.save(uri)
        (found,) = await ed.published(uri, lambda found: len(found) == 1, since)
        assert found["range"] == BREAK
        await ed.status(since, state="idle", findings=1)

        begun.unlink()
        await ed.change(uri, 3, {"text": ENDLESS})
        write(root, ENDLESS)
        await ed.save(uri)
        await until(begun.exists)
        assert len(mark.alive()) >= 4  # server, standby, run and its child
        parent.kill()
        await parent.wait()
        await ed.process.wait()
        assert mark.none_left()
