"""The file of known findings that ``check --baseline`` compares with: no line numbers, so that it changes only when findings do."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import msgspec

from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.diff.identity import Identity
from compile_lens.diff.json_bytes import json_bytes

VERSION = 1
# bytes
LARGEST = 1 << 28


class BaselineError(Exception):
    """A baseline cannot be used; its text is one sentence for the user."""


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    file: str
    kind: str
    code: str
    function: str
    text: str
    message: str


class _BaselineRun(msgspec.Struct, forbid_unknown_fields=True):
    file: str
    findings: list[_Row]


class _Document(msgspec.Struct):
    version: int
    runs: list[_BaselineRun]


# of each file that was run, relative to the folder of the baseline: its findings, in whichever file they stand
Known = dict[str, tuple[Identity, ...]]


def read_baseline(path: Path) -> Known:
    """The findings that ``path`` lists. Raises BaselineError."""
    try:
        document = msgspec.json.decode(read_regular(path, LARGEST), type=_Document)
    except FileNotFoundError:
        raise BaselineError(f"{path}: no such file. To make it, add --update-baseline.") from None
    except OSError as error:
        raise BaselineError(f"The baseline {path} cannot be read: {error.strerror}.") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path} is not a baseline ({error}). To make one, add --update-baseline.") from None
    if document.version != VERSION:
        raise BaselineError(
            f"{path} is a baseline of version {document.version}; this compile-lens reads version {VERSION}."
        )
    return {run.file: tuple(Identity(**msgspec.structs.asdict(row)) for row in run.findings) for run in document.runs}


def baseline_text(known: Known) -> str:
    """The file that lists ``known``, sorted: two machines write the same one."""
    runs = [
        _BaselineRun(file, sorted((_Row(**asdict(one)) for one in findings), key=msgspec.structs.astuple))
        for file, findings in sorted(known.items())
    ]
    document = json_bytes(_Document(VERSION, runs))
    return msgspec.json.format(document, indent=2).decode() + "\n"
