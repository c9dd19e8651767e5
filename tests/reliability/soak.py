"""A long day with a real server, compressed: edits, saves, cancels, killed and stopped workers, a full disk; then its memory.

``python -m tests.reliability.soak --minutes 60`` prints one line of JSON. On Linux, and where a user may make a mount namespace (the
command makes its own), everything that the server writes is on a small file system which is filled up now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import click
from tests.lsp.editor import REAL, Editor, editor
from tests.processes import Mark

DISK_BYTES = 512 << 20
NAMESPACE = "COMPILE_LENS_SOAK_NAMESPACE"
# of the time, before memory is first looked at: by then everything has been used once
WARM_UP = 0.15
SAMPLES = 20
PAUSE_S = 2.0
ANSWER_S = 60.0

PROGRAMS = {
    "breaks.py": "import torch\n\n@torch.compile\ndef f(x):\n    if x.sum() > 0:\n        print(x)\n    return x + 1\n\nf(torch.ones(3))\n",
    "recompiles.py": "import torch\n\n@torch.compile\ndef f(x, n):\n    return x * n\n\nfor n in range(4):\n    f(torch.ones(3 + n), n)\n",
    "raises.py": "import torch\n\n@torch.compile(fullgraph=True)\ndef f(x):\n    return x.nonzero().tolist()\n\nf(torch.ones(3))\n",
    "endless.py": "import subprocess, torch\n\n@torch.compile\ndef f(x):\n    return x + 1\n\nf(torch.ones(3))\n"
    'subprocess.Popen(["sleep", "1000"])\nwhile True:\n    f(torch.ones(3))\n',
}  # fmt: skip


class Failure(Exception):
    """The server did what it must not."""


class Soak:
    """One editor, one server, and what is done to them."""

    def __init__(self, ed: Editor, root: Path, disk: Path | None, mark: Mark, dice: random.Random) -> None:
        self.ed, self.root, self.disk, self.mark, self.dice = ed, root, disk, mark, dice
        self.uris: dict[str, str] = {}
        self.versions: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.slowest_s = 0.0

    async def start(self) -> None:
        await self.ed.initialize(self.root, {"python": sys.executable, "run": {"enabled": "always", "timeout": 20}})
        for name, text in PROGRAMS.items():
            (self.root / name).write_text(text)
            await self.open(name)

    async def open(self, name: str) -> None:
        self.versions[name] = 1
        self.uris[name] = await self.ed.open(self.root / name)

    async def edit(self, name: str) -> None:
        """Type a line, and sometimes take it back; the file on disk stays a program."""
        line = self.dice.randrange(6)
        for text in ("# typed 😀\n", "x ="):
            self.versions[name] += 1
            await self.ed.insert(self.uris[name], self.versions[name], line, text)
        self.versions[name] += 1
        await self.ed.change(self.uris[name], self.versions[name], {"text": PROGRAMS[name]})

    async def save(self, name: str) -> None:
        await self.ed.save(self.uris[name])

    async def reopen(self, name: str) -> None:
        await self.ed.close(self.uris[name])
        await self.open(name)

    async def ask(self, name: str) -> None:
        document = {"textDocument": {"uri": self.uris[name]}}
        point = {"line": self.dice.randrange(8), "character": self.dice.randrange(20)}
        await self.ed.request("textDocument/hover", {**document, "position": point})
        await self.ed.request("textDocument/codeLens", document)
        where = {"range": {"start": point, "end": point}, "context": {"diagnostics": []}}
        await self.ed.request("textDocument/codeAction", {**document, **where})

    async def cancel(self, name: str) -> None:
        await self.ed.save(self.uris[name])
        await asyncio.sleep(self.dice.random())
        await self.ed.command("compileLens.cancel", self.uris[name])

    async def kill(self, _: str) -> None:
        """SIGKILL to one of the server's processes."""
        if workers := self.workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.dice.choice(workers), signal.SIGKILL)

    async def stop(self, _: str) -> None:
        """SIGSTOP to one of them; it never goes on by itself."""
        if workers := self.workers():
            pid = self.dice.choice(workers)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(2.0)
            if self.dice.random() < 0.5:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    async def fill_disk(self, name: str) -> None:
        """Nothing can be written for a while, during a run."""
        if self.disk is None:
            return
        full = self.disk / "full"
        with contextlib.suppress(OSError), full.open("wb") as file:
            while True:
                file.write(b"x" * (1 << 20))
        await self.ed.save(self.uris[name])
        await asyncio.sleep(3.0)
        full.unlink()

    def workers(self) -> list[int]:
        return [pid for pid in self.mark.alive() if pid != self.ed.process.pid]

    async def step(self) -> None:
        """One thing, then proof that the server is there."""
        action = self.dice.choices(
            [self.edit, self.save, self.ask, self.cancel, self.reopen, self.kill, self.stop, self.fill_disk],
            [30, 20, 20, 10, 6, 4, 2, 2],
        )[0]
        self.done[action.__name__] += 1
        await action(self.dice.choice(list(PROGRAMS)))
        began = time.monotonic()
        try:
            await asyncio.wait_for(self.ed.hover(self.uris["breaks.py"], 2, 3), ANSWER_S)
        except asyncio.TimeoutError:
            raise Failure(f"no answer within {ANSWER_S:.0f} s after {action.__name__}") from None
        self.slowest_s = max(self.slowest_s, time.monotonic() - began)
        del self.ed.received[:-50]

    async def sound(self) -> None:
        """After everything the analysis still tells the truth."""
        uri = self.uris["breaks.py"]
        for _ in range(3):  # a worker that was killed or stopped a moment ago may take this run with it
            since = self.ed.mark()
            await self.ed.command("compileLens.analyze", uri)
            found = await self.ed.published(uri, lambda _: True, since) if self.ed.mark() > since else []
            if sorted(str(each["code"]) for each in found)[:1] == ["GB0059"]:
                return
        raise Failure(f"breaks.py is not analyzed any more: {found}")


def size(pid: int) -> dict[str, int]:
    """Of a process: KiB of memory that is its own, open descriptors, threads."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().split("\n")
    private = sum(int(line.split()[1]) for line in rollup if line.startswith(("Private_Dirty", "Private_Clean")))
    return {
        "private_kib": private,
        "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": len(list(Path(f"/proc/{pid}/task").iterdir())),
    }


async def quiet(ed: Editor) -> None:
    """End what runs, and give the server a moment to forget it."""
    await ed.command("compileLens.cancel")
    await asyncio.sleep(1.0)


async def soak(seconds: float, seed: int, folder: Path, disk: Path | None) -> dict[str, Any]:
    """Do it for so long. Raises Failure, or what the editor of the tests raises when the server is gone."""
    mark, dice = Mark(), random.Random(seed)
    os.environ.update({name: value for name, value in mark.environment.items() if "MARK" in name})
    root = folder / "workspace"
    root.mkdir()
    samples: list[dict[str, int]] = []
    async with editor(folder, REAL) as ed:
        soak = Soak(ed, root, disk, mark, dice)
        await soak.start()
        began = time.monotonic()
        steps = 0
        while (passed := time.monotonic() - began) < seconds:
            await soak.step()
            await asyncio.sleep(dice.random() * PAUSE_S)  # some runs come to their end
            steps += 1
            if passed > seconds * (WARM_UP + len(samples) * (1 - WARM_UP) / SAMPLES):
                await quiet(ed)
                samples.append(size(ed.process.pid))
                print(f"{passed:.0f} s, {steps} steps: {samples[-1]}", file=sys.stderr)
        await soak.sound()
        await quiet(ed)
        samples.append(size(ed.process.pid))
        code = await ed.shut_down()
    first, last = samples[0], samples[-1]
    return {
        "seed": seed,
        "minutes": round(seconds / 60, 1),
        "steps": steps,
        "done": dict(soak.done),
        "full_disk": disk is not None,
        "slowest_answer_s": round(soak.slowest_s, 2),
        "memory_ratio": round(last["private_kib"] / first["private_kib"], 3),
        "first": first,
        "last": last,
        "exit_code": code,
        "processes_left": 0 if mark.none_left() else len(mark.alive()),
        "left_behind": left_behind(folder),
        "errors_logged": [
            line for line in (folder / "server.log").read_text().splitlines() if line.startswith("ERROR")
        ],
    }


def left_behind(folder: Path) -> list[str]:
    """Files that the server wrote and that are neither state nor caches: there should be none."""
    expected = {
        "server.log",
        "workspace",
        "xdg_cache_home",
        "xdg_state_home",
        "home",
        "xdg_data_home",
        "xdg_config_home",
        "tmp",
    }
    odd = [path.name for path in folder.iterdir() if path.name not in expected]
    temporary = [path.name for path in (folder / "tmp").iterdir()] if (folder / "tmp").is_dir() else []
    workspace = [path.name for path in (folder / "workspace").iterdir() if path.name not in PROGRAMS]
    return sorted([*odd, *temporary, *workspace])


def main_in_namespace(seconds: float, seed: int) -> int:
    """The soak with all that it writes on a file system of its own, if this process may have one."""
    with tempfile.TemporaryDirectory() as name:
        disk = None
        if os.environ.get(NAMESPACE):
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", name], check=True)
            disk = Path(name)
        folder = Path(name) / "soak"
        (folder / "tmp").mkdir(parents=True)
        os.environ["TMPDIR"] = str(folder / "tmp")
        os.environ.pop("COMPILE_LENS_CACHE_DIR", None)
        try:
            result = asyncio.run(soak(seconds, seed, folder, disk))
            click.echo(json.dumps(result))
        finally:
            if log := os.environ.get("COMPILE_LENS_SOAK_LOG"):
                shutil.copy(folder / "server.log", log)
            if disk is not None:
                subprocess.run(["umount", name], check=True)
    return 0


@click.command()
@click.option("--minutes", default=60.0, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(minutes: float, seed: int) -> None:
    """Let a server live through MINUTES of work and trouble."""
    may_mount = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0
    if sys.platform == "linux" and may_mount and not os.environ.get(NAMESPACE):
        os.environ[NAMESPACE] = "1"
        sys.exit(
            subprocess.run(
                ["unshare", "-rm", sys.executable, "-m", "tests.reliability.soak", *sys.argv[1:]], check=False
            ).returncode
        )
    sys.exit(main_in_namespace(minutes * 60, seed))


if __name__ == "__main__":
    main()
