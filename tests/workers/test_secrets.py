"""Files and variables with secrets: a sandboxed run reads none of them, wherever variables have moved them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.access import Access, SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job
from compile_lens.workers.secret_variables import HIDDEN, hidden
from sandbox_kinds import skip_unless_offered

LIST = """
import json, os, sys
from compile_lens.agent.sandbox.secret_places import candidates
print(json.dumps(list(candidates(sys.argv[1], os.environ))))
"""
PROGRAM = """
import json, os, sys
readable = []
for path in json.loads(open("paths.json").read()):
    try:
        if "planted" in open(path).read():
            readable.append(path)
    except OSError:
        pass
print("READABLE", json.dumps(readable))
print("VARIABLES", json.dumps(dict(os.environ)))
words = b""
for name in ("environ", "mem") if sys.platform == "linux" else ():
    try:
        words += open(f"/proc/{os.getppid()}/{name}", "rb").read(1 << 16)
    except OSError:
        pass
print("NATIVE", "planted" in open("/proc/self/environ", errors="replace").read() + words.decode(errors="replace"))
"""
MOVED = {
    "XDG_CONFIG_HOME": "moved/config", "XDG_DATA_HOME": "moved/data", "HF_HOME": "moved/hub", "KUBECONFIG": "moved/kube-a:moved/kube-b",
    "AWS_SHARED_CREDENTIALS_FILE": "moved/aws", "PIP_CONFIG_FILE": "moved/pip.conf", "HISTFILE": "moved/history",
}  # fmt: skip
# how often a token is in the program's own memory; its text has none
MEMORY = """
import re
token, found = re.compile(b"plante[d]-wandb"), 0
memory = open("/proc/self/mem", "rb")
for line in open("/proc/self/maps"):
    place, modes, *_ = line.split()
    start, end = (int(number, 16) for number in place.split("-"))
    if modes.startswith("rw") and end - start < 1 << 27:
        memory.seek(start)
        try:
            found += len(token.findall(memory.read(end - start)))
        except OSError:
            pass
print("FOUND", found)
"""
# what the launch.json of a workspace may set for its program
ELSEWHERE = dict.fromkeys(("HOME", *MOVED), "/nowhere")
TOKENS = {
    "HF_TOKEN": "planted-hf", "WANDB_API_KEY": "planted-wandb", "OPENAI_API_KEY": "planted-key", "AWS_SECRET_ACCESS_KEY": "planted-aws",
    "MY_SETTING": "ghp_plantedplantedplanted", "DATABASE_URL": "postgres://me:planted@db/x", "GITLAB_TOKEN": "planted-gitlab",
}  # fmt: skip


class Place:
    """A home with a file in the place of every secret, and one host for all kinds of sandbox."""

    def __init__(self, folder: Path) -> None:
        home = folder / "home"
        moved = {name: os.pathsep.join(str(home / part) for part in value.split(":")) for name, value in MOVED.items()}
        private = {"HOME": str(home), "COMPILE_LENS_CACHE_DIR": str(folder / "cache")}
        environment = {**os.environ, **private, **moved, **TOKENS}
        command = [sys.executable, "-c", LIST, str(home)]
        asked = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        self.planted: list[str] = []
        for path in map(Path, json.loads(asked.stdout)):
            if path.is_relative_to(home):
                self._plant(path)
        work = folder / "work"
        work.mkdir()
        (work / "paths.json").write_text(json.dumps(self.planted))
        self.file = work / "train.py"
        self.file.write_text(PROGRAM)
        self._host = Host(sys.executable, environment)
        self._loop = asyncio.new_event_loop()

    def _plant(self, path: Path) -> None:
        # what has no suffix may be a folder
        file = path / "planted" if len(path.name) % 2 and not path.suffix else path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("planted")
        except OSError:  # another place is a file here
            return
        self.planted.append(str(file))

    def run(self, job: Job) -> Outcome:
        return self._loop.run_until_complete(analyze(self._host, job))

    def close(self) -> None:
        self._loop.run_until_complete(self._host.close())
        self._loop.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("secrets"))
    yield place
    place.close()


def said(outcome: Outcome, word: str) -> str:
    return next(line for line in outcome.output.splitlines() if line.startswith(word)).partition(" ")[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("kind", list(SandboxKind))
@pytest.mark.parametrize("variables", [{}, ELSEWHERE], ids=["as they are", "as the workspace says"])
def test_no_secret_reaches_a_sandboxed_run(place: Place, kind: SandboxKind, variables: dict[str, str]) -> None:
    skip_unless_offered(kind.value)
    assert len(place.planted) > 100
    outcome = place.run(Job(str(place.file), timeout_s=60, sandbox=SandboxOptions(strongest=kind), env=variables))
    assert json.loads(said(outcome, "READABLE")) == [], outcome.output
    assert "planted" not in said(outcome, "VARIABLES")
    assert json.loads(said(outcome, "VARIABLES"))["HF_TOKEN"] == HIDDEN
    assert json.loads(said(outcome, "VARIABLES"))["DATABASE_URL"] == f"postgres://me:{HIDDEN}@db/x"
    assert said(outcome, "NATIVE") == "False"


def test_a_run_with_full_access_has_its_variables(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("import os\nprint('VARIABLES', os.environ['HF_TOKEN'], os.environ['MY_SETTING'])\n")
    outcome = place.run(Job(str(file), timeout_s=60, access=Access.FULL))
    assert said(outcome, "VARIABLES") == f"planted-hf {TOKENS['MY_SETTING']}"


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_no_run_is_a_copy_of_a_process_that_knew_secrets(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("print('hello')\n")
    place.run(Job(str(file), timeout_s=60, access=Access.FULL))
    file.write_text(MEMORY)
    outcome = place.run(Job(str(file), timeout_s=60))
    assert said(outcome, "FOUND") == "0"


@pytest.mark.parametrize(
    "kept",
    ["TOKENIZERS_PARALLELISM=false", "MAX_TOKENS=4096", "PAD_TOKEN=0", "PATH=/usr/bin:/bin", "HOME=/home/me", "HF_TOKEN_PATH=/x/token",
     "TORCH_LOGS=+dynamo", "SSL_CERT_FILE=/etc/ssl/cert.pem", "PYTHONHASHSEED=0", "CUDA_VISIBLE_DEVICES=0,1", "KEYBOARD=us",
     "PIP_INDEX_URL=https://pypi.org/simple", "COMPASS=north", "MONKEY=banana", "WANDB_MODE=offline", "SKIP_AUTH=1",
     "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_PARAMETERS='core.bare=true' 'safe.directory'='/'", "TRAIN_TOKENS=10_000_000_000",
     "INDEX=https://me@dev.example/simple", "PAGE=https://host.example/?tokens=3&use_token=true&design=x", "LAYER_2=x", "MAX_TOKENS_2=10B"],
)  # fmt: skip
def test_ordinary_variables_are_kept(kept: str) -> None:
    name, _, value = kept.partition("=")
    assert hidden({name: value}) == {}


def test_a_long_value_with_users_in_addresses_is_hidden_whole() -> None:
    """To search it takes a time that grows with the square of its length."""
    assert hidden({"NOTES": "http://" * 20_000, "URLS": "http://" * 20_000 + "me:secret@host"}) == {
        "URLS": "hidden-by-compile-lens"
    }


@pytest.mark.parametrize(
    "secret",
    [
        '{"password": "x1"}',
        "run --api-token x1",
        "ghp_" + "a1" * 18,
        "Authorization: Bearer x1",
        "curl -u me:x1 https://host.example",
    ],
)
def test_a_long_value_with_a_secret_of_another_shape_is_hidden_whole(secret: str) -> None:
    assert hidden({"VCAP_SERVICES": "a " * 5_000 + secret + " b" * 5_000}) == {
        "VCAP_SERVICES": "hidden-by-compile-lens"
    }
    assert hidden({"LONG_PATH": ":".join(f"/opt/my-keys/{number}/token:/secret" for number in range(1_000))}) == {}


@pytest.mark.parametrize(
    "secret",
    ["KAGGLE_KEY=0123abcd", "PGPASSWORD=secret", "MYSQL_PWD=secret", "SSHPASS=secret", "REDISCLI_AUTH=secret", "LDAP_BINDPW=secret",
     "NGROK_AUTHTOKEN=2abc", "SECRET_KEY_BASE=0f0f", "SLACK_WEBHOOK=https://hooks.example/T0/B0", "AWS_BEARER_TOKEN_BEDROCK=abc",
     "POETRY_PYPI_TOKEN_PYPI=abc", "CI_JOB_JWT_V2=abc", "DOCKER_AUTH_CONFIG={}", "AWS_SECRET_ACCESS_KEY=/x7Kbase64", "MY=Bearer abc",
     "OTEL_EXPORTER_OTLP_HEADERS=api-key=abc", "GIT_CONFIG_VALUE_0=AUTHORIZATION: basic abc",
     "SYSTEM_ACCESSTOKEN=abc", "OPENAI_API_KEY_2=abc", "API_KEYS=abc,def", "AUTH_TOKENS=abc", "CLIENTSECRET=abc", "DB_PASSWORD2=abc",
     "GROQ=gsk_abcdefgh", "TOK=dckr_pat_abc", "APP=xapp-1-A-abc", "DBX=dapi0123456789", "STRIPE=sk_test_abc", "TS=tskey-auth-x",
     'SA={"k": "-----BEGIN PRIVATE KEY-----"}'],
)  # fmt: skip
def test_secrets_by_their_names_and_values_are_hidden(secret: str) -> None:
    name, _, value = secret.partition("=")
    assert hidden({name: value}) == {name: HIDDEN}


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgres://me:se/cr@et@db/x", f"postgres://me:{HIDDEN}@db/x"),
        ("https://0123456789abcdef0123@index.example/simple", f"https://{HIDDEN}@index.example/simple"),
        ("https://a.example/b?sv=1&sig=abc%3D", f"https://a.example/b?sv=1&sig={HIDDEN}"),
        ("ssh://git@host.example/repository", None),
        ("ssh://user12345@host.example/repository", None),
        ("https://abc123token@host.example/simple", f"https://{HIDDEN}@host.example/simple"),
        ("https://0123456789abcdef0123:x-oauth-basic@host.example", f"https://{HIDDEN}:{HIDDEN}@host.example"),
        (
            "https://s3.example/x?X-Amz-Date=1&X-Amz-Signature=abc&n=1",
            f"https://s3.example/x?X-Amz-Date=1&X-Amz-Signature={HIDDEN}&n=1",
        ),
        ("https://gs.example/x?X-Goog-Signature=abc", f"https://gs.example/x?X-Goog-Signature={HIDDEN}"),
        (
            "https://cdn.example/x?Expires=1&Signature=a~b-&Key-Pair-Id=K",
            f"https://cdn.example/x?Expires=1&Signature={HIDDEN}&Key-Pair-Id=K",
        ),
        ("https://a.example/?access_token=abc#x", f"https://a.example/?access_token={HIDDEN}#x"),
        ("https://a.example/?b=1&api_key=abc", f"https://a.example/?b=1&api_key={HIDDEN}"),
        ("https://a.example/?token=abc def", f"https://a.example/?token={HIDDEN} def"),
    ],
)
def test_secrets_in_addresses_are_hidden(address: str, shown: str | None) -> None:
    assert hidden({"ADDRESS": address}) == ({} if shown is None else {"ADDRESS": shown})


def test_git_reads_what_is_left_of_its_settings() -> None:
    """It ends where they are none."""
    given = r"'http.extraheader=Authorization: it'\''s' 'url.https://h/?a=b.insteadof'='planted' 'core.bare'='true'"
    left = hidden({"GIT_CONFIG_PARAMETERS": given})
    told = f"'http.extraheader={HIDDEN}' 'url.https://h/?a=b.insteadof'='{HIDDEN}' 'core.bare'='true'"
    assert left == {"GIT_CONFIG_PARAMETERS": told}
    command = ["git", "config", "--get", "http.extraheader"]
    assert subprocess.run(command, env={**os.environ, **left}, capture_output=True, text=True).stdout == f"{HIDDEN}\n"
