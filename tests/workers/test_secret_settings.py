"""Settings with a token in them are secrets, others are not; and nothing tells a run where services of the user listen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.agent.sandbox.secret_places import SECRET_SETTING, candidates, settings_with_secrets
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.access import SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job
from sandbox_kinds import skip_unless_offered

PROGRAM = """
import os, subprocess, sys
for name in (".gitconfig", ".condarc", ".hgrc"):
    try:
        print(name, "planted" in open(os.path.expanduser(f"~/{name}")).read())
    except OSError:
        print(name, False)
print("address", "/planted/agent" in open("/proc/self/environ").read(), "SSH_AUTH_SOCK" in os.environ, os.environ["KEPT"])
try:
    ran = subprocess.run(["git", "init", "-q", "new"], cwd=os.environ.get("TMPDIR", "/tmp"), capture_output=True, text=True)
    print("git", ran.returncode, ran.stderr)
except PermissionError:
    print("git is not started")
"""
FORGETS = """
import ctypes, os, sys
from compile_lens.agent.sandbox.initial_environment import forget
forget(["SSH_AUTH_SOCK", "NONE"])
library = ctypes.CDLL(None)
library.getenv.restype = ctypes.c_char_p
print(os.environ["SSH_AUTH_SOCK"], library.getenv(b"SSH_AUTH_SOCK").decode(), library.getenv(b"KEPT").decode())
print("/planted/agent" in open("/proc/self/environ").read(), "KEPT=kept" in open("/proc/self/environ").read().split(chr(0)))
"""
ADDRESS = {"SSH_AUTH_SOCK": "/planted/agent", "KEPT": "kept"}


@pytest.mark.parametrize(
    "text",
    ['[url "https://me:planted@host/"]\n', "[http]\n\textraHeader = Authorization: planted\n", "channels:\n  - https://host/t/planted-1/x\n",
     "https://0123456789abcdef0123@host/x", "password=planted", 'header = "Authorization: Bearer planted"', "user = me:planted",
     "-u me:planted", "x.password = planted", "oauth_token: planted", '"api-key": "planted"'],
)  # fmt: skip
def test_settings_with_a_secret_are_known(text: str) -> None:
    assert SECRET_SETTING.search(text)


@pytest.mark.parametrize(
    "text",
    ["[user]\n\tname = Me\n\temail = me@host\n[credential]\n\thelper = store\n", '[url "ssh://git@host/"]\n\tinsteadOf = https://host/\n',
     "add_anaconda_token: true\nchannels:\n  - conda-forge\nssl_verify: /etc/cert.pem\n", "[log]\n\tauthor = me\n", "user-agent = x:y",
     "[safe]\n\tdirectory = /a:b\n[user]\n\tname = A: B\n"],
)  # fmt: skip
def test_other_settings_can_be_read(text: str) -> None:
    assert not SECRET_SETTING.search(text)


def test_places_of_sessions_and_services(tmp_path: Path) -> None:
    (tmp_path / "xauth_a1").touch()
    (tmp_path / "gvfs").mkdir()
    settings = tmp_path / "git"
    settings.write_text("[user]\n\tname = me\n")
    environment = {"XDG_RUNTIME_DIR": str(tmp_path), "KRB5CCNAME": "DIR:/x/tickets", "GIT_CONFIG_GLOBAL": str(settings)}
    found = set(candidates("/home/me", environment))
    assert {f"{tmp_path}/xauth_a1", f"{tmp_path}/keyring", "/run/secrets", "/home/me/.tsh"} < found
    assert not {str(tmp_path), f"{tmp_path}/gvfs", str(settings)} & found
    assert os.name == "nt" or "/x/tickets" in found
    assert list(settings_with_secrets("/home/me", environment)) == []
    settings.write_text("token = planted\n")
    assert list(settings_with_secrets("/home/me", environment)) == [str(settings)]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_address_is_taken_out_of_what_the_kernel_shows() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FORGETS], env={**os.environ, **ADDRESS}, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "/planted/agent /planted/agent kept\nFalse True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_programs_that_need_settings_go_on_without_their_secrets(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "work" / "train.py"
    for folder in (home, file.parent):
        folder.mkdir()
    (home / ".gitconfig").write_text(
        '[user]\n\tname = me\n[url "https://me:planted@host/"]\n\tinsteadOf = https://host/\n'
    )
    (home / ".condarc").write_text("channels:\n  - https://host/t/planted-token/channel\n")
    (home / ".hgrc").write_text("[ui]\nusername = planted\n")
    file.write_text(PROGRAM)
    host = Host(sys.executable, {**os.environ, **ADDRESS, "HOME": str(home)})
    outputs = {}
    try:
        for kind in SandboxKind:
            skip_unless_offered(kind.value)
            job = Job(str(file), timeout_s=60, sandbox=SandboxOptions(strongest=kind))
            outputs[kind] = (await analyze(host, job)).output
    finally:
        await host.close()
    expected = ".gitconfig False\n.condarc False\n.hgrc True\naddress False False kept\n"
    assert outputs == {
        kind: expected + ("git is not started\n" if kind is SandboxKind.PYTHON else "git 0 \n") for kind in SandboxKind
    }
