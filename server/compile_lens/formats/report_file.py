"""A report as one file (``run.clens``): a zip with a manifest, the outcomes, and the source that their findings are about.

Version 1 holds ``manifest.json`` (``format``, ``version``, ``tool``, ``redacted``) and ``report.json`` (``root``, ``outcomes`` as in
``analysis/outcome.py``, ``sources``: file → text). Fields may be added; what is removed or changes its meaning raises the version.
The file may come from anybody: nothing in it is unpacked to disk, and what is read of it is limited.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from compile_lens import __version__
from compile_lens.agent.runtime.regular_file import is_file, read_regular
from compile_lens.analysis.outcome import Outcome
from compile_lens.diff.json_bytes import json_bytes
from compile_lens.formats.redaction import redacted
from compile_lens.trace.break_text import HOMES_OF_CODES
from compile_lens.trace.option_values import NO_VALUES

SUFFIX = ".clens"
FORMAT = "compile-lens report"
VERSION = 1
MANIFEST, REPORT = "manifest.json", "report.json"
# of what is unpacked; a report of 100,000 findings has a tenth
LARGEST_BYTES = 256 << 20
# each value takes about 70 bytes of memory, however few it has in the file; the same report has half of them
MOST_VALUES = 8_000_000
BEGINNINGS = (b"[", b"{", b",")
# a report has two; each takes 500 bytes of memory, and 47 of the file
MOST_MEMBERS = 1000
MEMBER = b"PK\1\2"
LARGEST_SOURCE = 1 << 20
SOURCES = (".py", ".pyw", ".ipynb")
WRITTEN_WITH = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# the same for each report: two with the same content are the same file
NO_DATE = (1980, 1, 1, 0, 0, 0)


class ReportFileError(Exception):
    """A report cannot be read; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class SavedReport:
    """What a report file holds. ``sources`` are the texts of files as they were, by their names in the outcomes."""

    name: str
    outcomes: tuple[Outcome, ...]
    sources: dict[str, str]
    is_redacted: bool


class _ReportBody(msgspec.Struct):
    outcomes: list[Outcome]
    root: str = ""
    sources: dict[str, str] = {}


def is_report_file(path: Path) -> bool:
    """Whether ``path`` is named like a report, so that it is told why it is none."""
    return path.suffix == SUFFIX


def report_bytes(
    outcomes: Sequence[Outcome], read_source: Callable[[str], str | None], root: str, redact: bool = False
) -> bytes:
    """The report file of ``outcomes``. ``read_source`` gives the text of a file, None if it is not here; ``root`` is the folder that
    paths are told from. ``redact``: without source text and values."""
    if redact:
        body = _ReportBody([redacted(outcome, root) for outcome in outcomes])
    else:
        kept = [replace(one, options=NO_VALUES, unfiltered=(), recorded=(), output="") for one in outcomes]
        files = sorted({file for outcome in kept for file in _files(outcome)})
        # a trace or report of somebody else's may name any file, and this one is sent to somebody
        named = [file for file in files if file.endswith(SOURCES)]
        texts = {file: text for file in named if (text := read_source(file)) and len(text) <= LARGEST_SOURCE}
        body = _ReportBody(kept, root, texts)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "tool": {"name": "compile-lens", "version": __version__},
        "redacted": redact,
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(zipfile.ZipInfo(MANIFEST, NO_DATE), json.dumps(manifest, indent=2))
        entry = zipfile.ZipInfo(REPORT, NO_DATE)
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, json_bytes(body))
    return packed.getvalue()


def _files(outcome: Outcome) -> Iterator[str]:
    for finding in outcome.findings:
        yield finding.place.file
        yield from (related.place.file for related in finding.related)


def read_report_file(path: Path, folder: Path) -> SavedReport:
    """The report at ``path``. Files that are not here but are at the same place below ``folder`` are named by that place.

    Raises ReportFileError.
    """
    try:
        manifest, report = _unzipped(path)
        about = msgspec.json.decode(manifest)
        if not isinstance(about, dict) or about.get("format") != FORMAT or not isinstance(about.get("version"), int):
            raise ReportFileError(f"{path} is not a report of Compile Lens.")
        if about["version"] > VERSION:
            raise ReportFileError(
                f"{path} was written by a newer Compile Lens (version {about['version']} of the format; this one reads up to {VERSION})."
            )
        if sum(map(report.count, BEGINNINGS)) > MOST_VALUES:
            raise ReportFileError(f"{path} is too large: it contains more than {MOST_VALUES:,} values.")
        body = msgspec.convert(_moved(msgspec.json.decode(report), folder), type=_ReportBody)
    except OSError as error:
        raise ReportFileError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ReportFileError(f"{path} is not a complete report of Compile Lens ({error}).") from None
    outcomes = tuple(map(_without_strange_pages, body.outcomes))
    return SavedReport(str(path), outcomes, body.sources, bool(about.get("redacted")))


def _without_strange_pages(outcome: Outcome) -> Outcome:
    """``outcome`` without addresses that are no page of torch's: SARIF has them as links, which may run a command of an editor."""
    findings = (
        replace(one, url=None) if one.url and not HOMES_OF_CODES.match(one.url) else one for one in outcome.findings
    )
    return replace(outcome, findings=tuple(findings))


def _unzipped(path: Path) -> tuple[bytes, bytes]:
    try:
        # a pipe would never end, and an endless device neither
        packed = read_regular(path, LARGEST_BYTES)
        if packed.count(MEMBER) > MOST_MEMBERS:
            raise ReportFileError(f"{path} is not a report of Compile Lens.")
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            left = LARGEST_BYTES
            parts = []
            for name in (MANIFEST, REPORT):
                if archive.getinfo(name).compress_type not in WRITTEN_WITH:
                    raise ReportFileError(f"{path} is not a report of Compile Lens.")
                with archive.open(name) as entry:
                    parts.append(entry.read(left + 1))
                left -= len(parts[-1])
                if left < 0:
                    raise ReportFileError(f"{path} is too large: it unpacks to more than {LARGEST_BYTES >> 20} MiB.")
    except KeyError:
        raise ReportFileError(f"{path} is not a report of Compile Lens.") from None
    # encrypted, of an unknown compression, cut short, or no zip at all
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
        raise ReportFileError(f"{path} is not a complete report of Compile Lens ({error}).") from None
    return parts[0], parts[1]


def _moved(body: Any, folder: Path) -> Any:
    """``body`` with files of another machine named by where they are here, if they are below ``folder``."""
    root = body.get("root") if isinstance(body, dict) else None
    if not isinstance(root, str) or not root or root == str(folder):
        return body

    def here(file: str) -> str:
        if not file.startswith(f"{root}/") or os.path.exists(file):  # noqa: PTH110 - a path of another machine stays text
            return file
        local = folder / file[len(root) + 1 :]
        return str(local) if is_file(local) else file

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: here(inner) if key == "file" and isinstance(inner, str) else walk(inner)
                for key, inner in value.items()
            }
        return [walk(inner) for inner in value] if isinstance(value, list) else value

    moved: dict[str, Any] = walk(body)
    if isinstance(moved.get("sources"), dict):
        moved["sources"] = {here(file): text for file, text in moved["sources"].items()}
    return moved
