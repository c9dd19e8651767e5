"""A real VS Code (code-server) with the packed extension in a private profile, and a browser that plays scenarios in it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CLIENT = ROOT / "vscode-client"
VSIX = CLIENT / "compile-lens.vsix"
PYTHON = os.environ.get("COMPILE_LENS_TEST_PYTHON", sys.executable)

USER_SETTINGS: dict[str, Any] = {
    "chat.disableAIFeatures": True,
    "editor.cursorBlinking": "solid",
    "editor.fontFamily": "'JetBrains Mono', monospace",
    "editor.fontSize": 13,
    "editor.lineHeight": 20,
    "editor.minimap.enabled": False,
    "editor.stickyScroll.enabled": False,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "extensions.ignoreRecommendations": True,
    "files.autoSave": "off",
    "git.enabled": False,
    "git.openRepositoryInParentFolders": "never",
    "remote.autoForwardPorts": False,
    "security.workspace.trust.startupPrompt": "never",
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "update.showReleaseNotes": False,
    "window.autoDetectColorScheme": False,
    "window.restoreWindows": "none",
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.editor.useModal": "off",
    "workbench.enableExperiments": False,
    "workbench.reduceMotion": "on",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.welcomePage.walkthroughs.openOnInstall": False,
}

# The fonts of the pictures, where they are installed; Chromium takes what fontconfig knows as the system's.
FONTS = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <alias><family>system-ui</family><prefer><family>Inter</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>Inter</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>JetBrains Mono</family></prefer></alias>
</fontconfig>
"""


@dataclass(frozen=True)
class Lab:
    """Where ``install.sh`` put things."""

    node: str
    code_server: str
    playwright: str
    browser: str


def install_lab() -> Lab:
    """The lab, installed if it is not there. Raises CalledProcessError with the installer's words on stderr."""
    done = subprocess.run([HERE / "install.sh"], stdout=subprocess.PIPE, text=True, check=True)
    return Lab(**json.loads(done.stdout))


def build_extension(lab: Lab) -> Path:
    """The packed extension, made anew when a source is younger than it; by one test process at a time."""
    with (Path(lab.playwright).parents[2] / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build_extension(lab)


def _build_extension(lab: Lab) -> Path:
    folders = [CLIENT / name for name in ("src", "images", "media", "scripts", "bundled/tool")] + [
        ROOT / "server/compile_lens"
    ]
    sources = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    names = ("package.json", "package-lock.json", "requirements.txt", "README.md", "esbuild.mjs", ".vscodeignore")
    sources += [CLIENT / name for name in names]
    if VSIX.exists() and VSIX.stat().st_mtime >= max(path.stat().st_mtime for path in sources):
        return VSIX
    env = {**os.environ, "PATH": f"{Path(lab.node).parent}{os.pathsep}{os.environ['PATH']}"}
    installed = CLIENT / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (CLIENT / "package-lock.json").stat().st_mtime:
        _run(["npm", "ci"], cwd=CLIENT, env=env)
    _run([PYTHON, str(CLIENT / "scripts/bundle.py"), "host"], cwd=CLIENT, env=env)
    _run(["npm", "run", "package"], cwd=CLIENT, env=env)
    return VSIX


def _run(command: list[str], *, cwd: Path, env: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}"


@dataclass
class Workbench:
    """One code-server process with its own home, on a free port of 127.0.0.1.

    ``machine`` holds machine-scoped settings, ``others`` more extensions (VSIX files), ``hidden`` variables that are not passed on.
    """

    lab: Lab
    vsix: Path
    machine: dict[str, Any]
    workspace_trust: bool = False
    others: tuple[Path, ...] = ()
    hidden: tuple[str, ...] = ()
    url: str = field(init=False)
    profile: Path = field(init=False)
    _process: subprocess.Popen[bytes] = field(init=False)

    def __enter__(self) -> Workbench:
        # Unix sockets are made below it, and their paths end at 107 bytes: not in pytest's folder.
        self.profile = Path(tempfile.mkdtemp(prefix="clens-", dir="/tmp"))
        try:
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if hasattr(self, "_process"):
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def processes(self) -> dict[int, str]:
        """The living processes of this profile, with their command lines."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                mine = f"HOME={self.profile}/home\0".encode() in (folder / "environ").read_bytes()
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                state = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            except OSError:  # gone, or another user's
                continue
            if mine and state != "Z":
                found[int(folder.name)] = command
        return found

    def assert_nothing_is_left(self) -> None:
        """After the end: what was started for this profile ends too, in a few seconds."""
        deadline = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.1)
        told = [f"{pid}: {command}" for pid, command in left.items()]
        assert not told, "these processes were left behind:\n" + "\n".join(told)

    def play(
        self, scenario: str, folder: Path, shots: Path, data: dict[str, Any] | None = None, limit: float = 120
    ) -> dict[str, Any]:
        """Plays ``scenarios/SCENARIO.mjs`` in ``folder`` and gives what it returns. Fails with the scenario's own words."""
        shots.mkdir(parents=True, exist_ok=True)
        result = shots / "result.json"
        given = {
            "url": self.url,
            "folder": str(folder),
            "shots": str(shots),
            "browser": self.lab.browser,
            "result": str(result),
            "data": data or {},
        }
        env = {**self._environment(), "PLAYWRIGHT": self.lab.playwright, "SCENARIO": json.dumps(given)}
        command = [self.lab.node, str(HERE / "scenarios" / f"{scenario}.mjs")]
        player = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        try:
            output, _ = player.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(player.pid, signal.SIGKILL)
            output = f"{player.communicate()[0]}\nThe scenario took longer than {limit} s."
        print(output)
        assert player.returncode == 0, (
            f"scenario {scenario} failed; screenshots are in {shots}\n{output}\n{self._server_log()}"
        )
        return json.loads(result.read_text())  # type: ignore[no-any-return]

    def _start(self) -> None:
        for name in ("home", "tmp", "run", "data/User", "data/Machine", "extensions"):
            (self.profile / name).mkdir(parents=True)
        (self.profile / "run").chmod(0o700)
        (self.profile / "data/User/settings.json").write_text(json.dumps(USER_SETTINGS))
        (self.profile / "data/Machine/settings.json").write_text(json.dumps(self.machine))
        fonts = self.profile / "home/.config/fontconfig/fonts.conf"
        fonts.parent.mkdir(parents=True)
        fonts.write_text(FONTS)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        (self.profile / "code-server.yaml").write_text(f"bind-addr: 127.0.0.1:{port}\nauth: none\ncert: false\n")
        command = [
            self.lab.node,
            self.lab.code_server,
            f"--config={self.profile}/code-server.yaml",
            f"--user-data-dir={self.profile}/data",
            f"--extensions-dir={self.profile}/extensions",
        ]
        for extension in (self.vsix, *self.others):
            _run([*command, f"--install-extension={extension}", "--force"], cwd=self.profile, env=self._environment())
        command += [
            "--disable-telemetry",
            "--disable-update-check",
            "--disable-getting-started-override",
            "--disable-proxy",
        ]
        if not self.workspace_trust:
            command.append("--disable-workspace-trust")
        with (self.profile / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.profile,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            assert self._process.poll() is None, f"code-server ended:\n{self._server_log()}"
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/healthz", timeout=2):
                return
            time.sleep(0.1)
        raise TimeoutError(f"code-server is not ready after 30 s:\n{self._server_log()}")

    def _environment(self) -> dict[str, str]:
        """The caller's environment with every place where something could be left, or taken from, moved into the profile."""
        home = self.profile / "home"
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("VSCODE_", "XDG_", "VIRTUAL_ENV", "PORT", *self.hidden))
        }
        return {
            **kept,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_STATE_HOME": str(home / ".local/state"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_RUNTIME_DIR": str(self.profile / "run"),
            "TMPDIR": str(self.profile / "tmp"),
            # no look-ups in a marketplace
            "EXTENSIONS_GALLERY": '{"serviceUrl":"","itemUrl":"","resourceUrlTemplate":""}',
            # seconds that an extension host outlives its page; 3 hours by default
            "CODE_SERVER_RECONNECTION_GRACE_TIME": "1",
        }

    def _server_log(self) -> str:
        parts = []
        for log in [self.profile / "server.log", *self.profile.glob("data/logs/**/*Compile Lens.log")]:
            with contextlib.suppress(OSError):
                parts.append(f"--- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-40:]))
        return "\n".join(parts)
