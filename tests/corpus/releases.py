"""What an index of packages has: their source distributions, and when they were published, since a file was written for the libraries of
its own day."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import re
import urllib.request
from dataclasses import dataclass
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

INDEX = "https://pypi.org/simple/"
TIMEOUT_S = 60


@dataclass(frozen=True)
class Release:
    """A file of an index; ``day`` is when it was uploaded, as in ``2024-05-03T08:07:28Z``, and ``python`` which versions it asks for, as
    in ``>=3.9``. See PEP 503 and 700."""

    version: str
    day: str
    name: str
    url: str
    sha256: str
    python: str

    @property
    def is_wheel(self) -> bool:
        return self.name.endswith(".whl")

    @property
    def is_for_this_python(self) -> bool:
        """Whether an installer would take it for this interpreter."""
        try:
            return SpecifierSet(self.python).contains(platform.python_version(), prereleases=True)
        except InvalidSpecifier:
            return True


def uploaded(package: str, version: str) -> str:
    """When ``version`` of ``package`` was uploaded; '' where the index does not say."""
    return min((release.day for release in releases(package) if release.version == version), default="")


def of_day(library: str, installed: str, day: str) -> str:
    """A requirement of the newest version of ``library`` that was there at ``day``, where it is earlier than ``installed``; or ''."""
    fitting = [_version(release.version) for release in releases(library) if release.is_wheel and release.day <= day]
    newest = max((found for found in fitting if found is not None and not found.is_prerelease), default=None)
    present = _version(installed)
    return f"{library}=={newest}" if newest is not None and present is not None and newest < present else ""


def source_of(package: str) -> bytes | None:
    """The source distribution (``.tar.gz``) of the newest version for this Python that has one, pre-releases where there is nothing else;
    None where there is none. Nothing of it is run. Raises OSError where it cannot be had whole."""
    archives = [r for r in releases(package) if r.name.endswith(".tar.gz") and r.is_for_this_python]
    found = [(version, release) for release in archives if (version := _version(release.version)) is not None]
    if not found:
        return None
    _, newest = max(found, key=lambda each: (not each[0].is_prerelease, each[0]))
    with urllib.request.urlopen(newest.url, timeout=TIMEOUT_S) as answer:
        content = bytes(answer.read())
    if newest.sha256 and hashlib.sha256(content).hexdigest() != newest.sha256:
        raise OSError(f"{newest.name} is not what the index says")
    return content


@functools.cache
def releases(package: str) -> tuple[Release, ...]:
    """The files that the index has of ``package``, without those that were withdrawn."""
    name = re.sub(r"[-_.]+", "-", package).lower()
    request = urllib.request.Request(f"{INDEX}{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            files = json.load(answer)["files"]
    except (OSError, ValueError, KeyError):
        return ()
    return tuple(_release(file) for file in files if not file.get("yanked"))


def _release(file: dict[str, Any]) -> Release:
    sha256 = file.get("hashes", {}).get("sha256", "")
    day, python = file.get("upload-time") or "9999", file.get("requires-python") or ""
    return Release(_version_of(file["filename"]), day, file["filename"], file.get("url", ""), sha256, python)


def _version_of(name: str) -> str:
    """From ``name-1.2-py3-none-any.whl`` or ``name-1.2.tar.gz``."""
    if name.endswith(".whl"):
        return name.split("-")[1]
    return re.sub(r"\.(?:tar\.\w+|zip|tgz)$", "", name).rpartition("-")[2]


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None
