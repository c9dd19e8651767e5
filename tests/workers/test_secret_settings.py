"""Settings with a token in them are secrets, others are not; and nothing tells a run where services of the user listen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.agent.runtime.regular_file import LARGEST_BYTES
from compile_lens.agent.sandbox.secret_places import (
    BASES,
    SECRET_PLACES,
    SECRET_SETTING,
    candidates,
    settings_with_secrets,
    without_hidden_settings,
)
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
     "-u me:planted", "x.password = planted", "oauth_token: planted", '"api-key": "planted"',
     "[sendemail]\n\tsmtpPass = planted\n", "[imap]\n\tpass = planted\n", "smtppass=planted",
     "[core]\n\tsshCommand = sshpass -p planted ssh\n",
     'proxy-user = "me:planted"', 'user = "my name:planted"', "-U me:planted", "-ume:planted",
     "pass = planted", "--pass planted", "proxy-pass planted",
    
     "oauth2-bearer = planted", "--oauth2-bearer planted", "cert = /x/c.pem:planted", "-E c.pem:planted", "cert = C:\\c.pem:planted",
     'cookie = "session=planted"', "-b session=planted", 'header = "X-Session: planted"',
     '-H "Cookie: planted"', "header = Cookie: sid=planted",
     '[pypi-token]\npypi = "planted"\n', 'pypi-token.pypi = "planted"', "https://planted1@host/",
     "password = no-planted", 'token = "true-planted"',
     "token: yes7planted", "secret_access_key = planted", "url = https://host/x?sig=planted", "password = \\\n planted"],
)  # fmt: skip
def test_settings_with_a_secret_are_known(text: str) -> None:
    assert SECRET_SETTING.search(text)


@pytest.mark.parametrize(
    "text",
    ["[user]\n\tname = Me\n\temail = me@host\n[credential]\n\thelper = store\n", '[url "ssh://git@host/"]\n\tinsteadOf = https://host/\n',
     "add_anaconda_token: true\nchannels:\n  - conda-forge\nssl_verify: /etc/cert.pem\n", "[log]\n\tauthor = me\n", "user-agent = x:y",
     "[safe]\n\tdirectory = /a:b\n[user]\n\tname = A: B\n", 'token = "no" # off\nssl_verify = 1\n', '{"api_key": "", "sync": true}',
     "cert = C:\\c.pem",
     "bypass = x", "cookie-jar = x", "cookies = on", "[merge]\n\tconflictstyle = diff3\n[http]\n\tcookieFile = x\n", "--user-agent x:y",
     "proxy = http://host:80", '[url "https://git@host/"]\n\tinsteadOf = x\n', "[imap]\n\tuser = me\n\thost = imaps://host:993\n",
     "auth = false\n"],
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
    with settings.open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)  # nobody looks into it
    assert list(settings_with_secrets("/home/me", environment)) == [str(settings)]


@pytest.mark.parametrize(
    "place",
    [".config/openstack/clouds.yaml", ".config/helm/repositories.yaml", ".rattler/credentials.json", ".mamba/auth/x.json",
     ".minikube/x/client.key",
     ".config/Code/User/workspaceStorage/x/chatSessions/a.json", ".config/Cursor/User/workspaceStorage/x/state.vscdb",
     ".copilot/config.json",
     ".var/app/org.mozilla.firefox/.mozilla/firefox/x/logins.json", "snap/chromium/common/chromium/Default/Cookies", ".histfile",
     ".Rhistory",
     ".aliyun/config.json", ".config/pnpm/rc", ".config/roboflow/config.json", ".qwen/oauth_creds.json",
     ".local/share/amazon-q/data.sqlite3",
     ".config/google-chrome-beta/Default/Cookies", ".local/share/fish/other_history"],
)  # fmt: skip
def test_usual_places_are_known(place: str, tmp_path: Path) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    assert any(file.is_relative_to(found) for found in candidates(str(tmp_path), {}))


def test_settings_in_folders_and_for_all_users(tmp_path: Path) -> None:
    for place in (".conda/condarc.d/a.yml", ".config/dvc/config"):
        file = tmp_path / place
        file.parent.mkdir(parents=True)
        file.write_text("password: planted\n")
        assert str(file) in set(settings_with_secrets(str(tmp_path), {}))
    paths = {path for place in SECRET_PLACES if place.are_settings for path in place.paths}
    assert {"/etc/pip.conf", "/etc/gitconfig", "/etc/conda/.condarc"} < paths


def test_git_is_told_of_no_settings_that_it_cannot_open() -> None:
    assert without_hidden_settings(["/etc/gitconfig"], "/home/me", {}) == {"GIT_CONFIG_SYSTEM": os.devnull}
    assert without_hidden_settings(["/home/me/.gitconfig"], "/home/me", {}) == {"GIT_CONFIG_GLOBAL": os.devnull}
    assert without_hidden_settings(["/home/me/.condarc"], "/home/me", {}) == {}


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


@pytest.mark.parametrize(
    "place",
    [".config/Code/User/settings.json", ".config/Cursor/User/mcp.json", ".vscode-server/data/User/settings.json",
     ".config/zed/settings.json", ".claude/settings.json", ".codex/config.toml", ".gemini/settings.json", ".config/opencode/opencode.jsonc",
     ".config/nvim/init.lua",
     ".codeium/windsurf/mcp_config.json", ".jupyter/jupyter_server_config.py", ".config/Claude/claude_desktop_config.json"],
)  # fmt: skip
def test_settings_of_editors_and_assistants_are_secret_with_a_key(place: str, tmp_path: Path) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.write_text('{"editor.fontSize": 12, "theme": "dark"}\n')
    assert str(file) not in set(settings_with_secrets(str(tmp_path), {}))
    file.write_text('{"servers": {"a": {"env": {"SERVICE_API_KEY": "planted"}}}}\n')
    assert str(file) in set(settings_with_secrets(str(tmp_path), {}))


def test_settings_of_an_environment_are_secret_with_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    active, own = tmp_path / "active", tmp_path / "own"
    monkeypatch.setitem(BASES, "$VIRTUAL_ENV", str(own))
    for folder in (active, own):
        folder.mkdir()
        (folder / "pip.conf").write_text("[global]\nproxy = http://me:planted@proxy.host.example:3128\n")
    found = set(settings_with_secrets(str(tmp_path), {"VIRTUAL_ENV": str(active)}))
    assert {str(active / "pip.conf"), str(own / "pip.conf")} <= found


@pytest.mark.parametrize(
    "text",
    ['"x": "hf_abcdefghijklmnopqrst"', "https://hooks.host.example/services/T0/B0/abcdefghij", '"Server=db;Pwd=planted"',
     '"a": "https://host.example/webhooks/0123456789/abcdefg"'],
)  # fmt: skip
def test_tokens_are_known_whatever_their_setting_is_called(text: str) -> None:
    assert SECRET_SETTING.search(text)
