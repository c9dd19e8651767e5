"""Kate with `editors/kate`, on a screen of its own: it cannot show the question, so that a code action allows runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from processes import Mark

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("kate", "Xvfb", "xdotool", "dbus-run-session")
MISSING = [name for name in NEEDED if shutil.which(name) is None]
CONFIGURATION = "[General]\nShow welcome view for new window=false\n\n[Kate Plugins]\nlspclientplugin=true\n"
SECONDS = 120

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} are not here; all are Debian packages"),
]


@pytest.fixture
def screen() -> Iterator[str]:
    """A display without a monitor."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1200x800x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as number:
        yield f":{number.readline().strip()}"
    server.terminate()
    server.wait(20)


def wait_until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.5)


def test_kate_allows_runs_with_a_code_action(
    project: Path, environment: dict[str, str], mark: Mark, screen: str, tmp_path: Path
) -> None:
    said, answered, runtime = tmp_path / "said", tmp_path / "answered", tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    command = tmp_path / "commands" / "compile-lens"
    command.rename(command.with_name("recorded"))
    command.write_text(f'#!/bin/sh\ntee "{said}" | recorded "$@" | tee "{answered}"\n')
    command.chmod(0o755)
    configuration = Path(environment["XDG_CONFIG_HOME"])
    (configuration / "kate" / "lspclient").mkdir(parents=True)
    shutil.copy(ROOT / "editors" / "kate" / "settings.json", configuration / "kate" / "lspclient")
    (configuration / "katerc").write_text(CONFIGURATION)
    variables = {**mark.environment, **environment, "DISPLAY": screen, "XDG_RUNTIME_DIR": str(runtime)}

    def press(*keys: str) -> None:
        subprocess.run(["xdotool", "key", "--delay", "200", *keys], env=variables, check=True)

    def windows() -> int:
        search = ["xdotool", "search", "--onlyvisible", "--class", "kate"]
        return len(subprocess.run(search, env=variables, capture_output=True, text=True, check=False).stdout.split())

    def in_file(text: str, file: Path) -> Callable[[], bool]:
        return lambda: file.exists() and text in file.read_text(encoding="utf-8", errors="replace")

    editor = subprocess.Popen(
        ["dbus-run-session", "--", "kate", "-n", "train.py"],
        env=variables,
        cwd=project,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: windows() > 1, "Kate asks whether it may start the server")

        def is_started() -> bool:
            if windows() > 1:
                press("Return")  # again, since a window that is on the screen need not have the keyboard yet
            return said.exists()

        wait_until(is_started, "Kate starts the server")
        wait_until(in_file("This editor cannot ask", answered), "the server says how to allow runs")
        # without a window manager, the window below the pointer has the keyboard
        subprocess.run(["xdotool", "mousemove", "300", "300", "click", "1"], env=variables, check=True)
        without_menu = windows()
        press("ctrl+Home", "Down", "Down", "Down", "alt+Return")
        wait_until(in_file('"title": "Allow Compile Lens', answered), "the action is offered at the region")
        wait_until(lambda: windows() > without_menu, "the menu of actions is on the screen")
        press("Down", "Return")
        wait_until(in_file("Graph break: `print`", answered), "the file is analyzed")
    finally:
        press("ctrl+q")
        try:
            editor.wait(30)
        except subprocess.TimeoutExpired:
            editor.terminate()
            editor.wait(20)
    assert in_file("compileLens.allowWorkspace", said)()
    wait_until(mark.none_left, "no process is left")
