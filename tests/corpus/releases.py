"""When packages were published: a file was written for the libraries of its own day."""

from __future__ import annotations

import functools
import json
import re
import urllib.request
from typing import Any

from packaging.version import InvalidVersion, Version

INDEX = "https://pypi.org/simple/"
TIMEOUT_S = 60


def uploaded(package: str, version: str) -> str:
    """When ``version`` of ``package`` was uploaded, as in ``2024-05-03T08:07:28Z``; '' where the index does not say."""
    return min((day for found, day, _ in releases(package) if found == version), default="")


def of_day(library: str, installed: str, day: str) -> str:
    """A requirement of the newest version of ``library`` that was there at ``day``, where it is earlier than ``installed``; or ''."""
    fitting = [_version(found) for found, when, wheel in releases(library) if wheel and when <= day]
    newest = max((found for found in fitting if found is not None and not found.is_prerelease), default=None)
    present = _version(installed)
    return f"{library}=={newest}" if newest is not None and present is not None and newest < present else ""


@functools.cache
def releases(package: str) -> tuple[tuple[str, str, bool], ...]:
    """The version, the day and whether it is a wheel, of each file that the index has of ``package``. See PEP 700."""
    name = re.sub(r"[-_.]+", "-", package).lower()
    request = urllib.request.Request(f"{INDEX}{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            files = json.load(answer)["files"]
    except (OSError, ValueError, KeyError):
        return ()
    return tuple(
        (_version_of(file), file.get("upload-time") or "9999", file["filename"].endswith(".whl")) for file in files
    )


def _version_of(file: dict[str, Any]) -> str:
    """From ``name-1.2-py3-none-any.whl`` or ``name-1.2.tar.gz``."""
    name = file["filename"]
    if name.endswith(".whl"):
        return str(name.split("-")[1])
    return str(re.sub(r"\.(?:tar\.\w+|zip|tgz)$", "", name).rpartition("-")[2])


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None
