"""Whatever happens to a bisection, the user's caches, environment, folders and process table are as before."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from planted_bugs import BUGS

from processes import Mark

pytestmark = [
    pytest.mark.searches,
    pytest.mark.xdist_group("bisect"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
SEED = 20261121
# how often in `make test`, and how often in all
KILLS = (2, pytest.param(10, marks=pytest.mark.nightly))
LONGEST_S = 7.0


class User:
    """A home with caches that hold something, and a repro."""

    def __init__(self, folder: Path) -> None:
        self.mark = Mark()
        self.home = folder / "home"
        self.temporary = folder / "tmp"
        self.work = folder / "work"
        self.ours = folder / "ours"
        for made in (self.home, self.temporary, self.work):
            made.mkdir()
        self.repro = self.work / "repro.py"
        self.repro.write_text(BUGS["decomposition"].text())
        cache = self.temporary / "torchinductor_somebody"
        (cache / "bisect").mkdir(parents=True)
        (cache / "fxgraph").mkdir()
        (cache / "fxgraph" / "entry").write_bytes(bytes(range(256)))
        (cache / "bisect" / "bisect_status.txt").write_text("backend=eager\nsubsystem=\n")
        self.environment = {
            **self.mark.environment,
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "USER": "somebody",
            "LOGNAME": "somebody",
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "COMPILE_LENS_CACHE_DIR": str(self.ours),
            "TORCHINDUCTOR_CACHE_DIR": str(cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def files(self) -> dict[str, bytes]:
        """All that is the user's."""
        found = [
            file for folder in (self.home, self.temporary, self.work) for file in folder.rglob("*") if file.is_file()
        ]
        return {str(file): file.read_bytes() for file in found}

    def folders(self) -> set[str]:
        return {str(f) for top in (self.home, self.temporary, self.work) for f in top.rglob("*") if f.is_dir()}

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "compile_lens", "bisect", "--json", str(self.repro)]
        return subprocess.Popen(
            command, env=self.environment, cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def searches(self) -> list[Path]:
        """What is left of scratch folders."""
        return [folder for folder in self.ours.rglob("searches/*") if folder.is_dir()]


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    return User(tmp_path_factory.mktemp("user"))


@pytest.mark.parametrize("kills", KILLS)
def test_whether_killed_or_not_nothing_of_the_users_changes(user: User, kills: int) -> None:
    generator = random.Random(SEED)
    files, folders = user.files(), user.folders()
    for _ in range(kills):
        wait, victim = generator.uniform(0.2, LONGEST_S), generator.randrange(3)
        with user.start() as process:
            time.sleep(wait)
            others = sorted(pid for pid in user.mark.alive() if pid != process.pid)
            # the terminal's process, the one that has torch imported, or the newest: a search or a step of it
            target = [process.pid, *others[:1], *others[-1:]][min(victim, len(others))]
            try:
                os.kill(target, signal.SIGKILL)
            except ProcessLookupError:
                continue
            finally:
                if victim == 0:
                    process.wait(30)
            process.communicate(timeout=600)
        assert user.mark.none_left(), (wait, victim)
        assert user.folders() ^ folders == set(), (wait, victim)
        assert user.files() == files, (wait, victim)
    # one that is left alone comes to its verdict, and sweeps what the killed ones could not
    with user.start() as process:
        output, errors = process.communicate(timeout=600)
    assert process.returncode == 1, errors
    assert '"subsystem": "decomposition"' in output
    assert "Another bisection left " in output
    assert (user.files(), user.folders()) == (files, folders)
    assert user.mark.none_left()
    assert not user.searches()
