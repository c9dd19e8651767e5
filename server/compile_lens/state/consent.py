"""Decides whether the user's code may run: workspace trust first, then the setting, then the answer for the workspace.

An answer is one small file per workspace root, under the user's state directory: two editors never write the same
file, and taking an answer back is to delete it.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.settings.settings import Consent
from compile_lens.state.atomic_file import write_atomically
from compile_lens.user_folders import state_folder


class Permission(Enum):
    """What may happen for a workspace now."""

    ALLOWED = "allowed"
    ASK = "ask"
    REFUSED = "refused"
    UNTRUSTED = "untrusted"
    UNSET = "unset"  # the editor knows no trust, and no setting says anything


@dataclass(frozen=True, slots=True)
class Grants:
    """What the user has allowed background runs of one workspace besides, in the editor."""

    network: bool = False
    allow_write: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsentStore:
    """The workspaces for which the user said yes, in ``folder``."""

    folder: Path

    @staticmethod
    def of_user() -> ConsentStore:
        """The store of the user who runs this process."""
        return ConsentStore(state_folder() / "consent")

    def is_allowed(self, root: Path, with_subfolders: bool = False) -> bool:
        """Whether the user allowed background runs for ``root``, as it is there now: a link may lead elsewhere than it did.

        ``with_subfolders``: for all files below, and not just for those that lie there.
        """
        answer = _answer_in(self._file(root))
        leads_there = answer.get("leads_to", os.path.realpath(root)) == os.path.realpath(root)
        is_enough = not (with_subfolders and answer.get("files_alone") is True)
        return _root_in(self._file(root)) == root and leads_there and is_enough

    def roots(self) -> tuple[Path, ...]:
        """The workspaces for which background runs are allowed."""
        found = {root for file in self.folder.glob("*.json") if (root := _root_in(file)) is not None}
        return tuple(sorted(root for root in found if self.is_allowed(root)))

    def gpu(self, root: Path) -> bool:
        """Whether the user also lets background runs of ``root`` use GPUs."""
        return _answer_in(self._file(root)).get("gpu") is True and self.is_allowed(root)

    def allow(self, root: Path, gpu: bool = False, with_subfolders: bool = True) -> None:
        """Remember that the user allowed background runs for ``root``. Raises OSError where nothing can be written."""
        answer = {"root": str(root), "allowed": True, "gpu": gpu, "leads_to": os.path.realpath(root)}
        if not (with_subfolders or self.is_allowed(root, with_subfolders=True)):
            answer["files_alone"] = True
        write_atomically(self._file(root), json.dumps(answer))

    def grants(self, root: Path) -> Grants:
        """What else runs of ``root`` may do."""
        answer = _answer_in(self._grants_file(root))
        folders = answer.get("allow_write")
        known = tuple(one for one in folders if isinstance(one, str)) if isinstance(folders, list) else ()
        return Grants(answer.get("network") is True, known) if answer.get("root") == str(root) else Grants()

    def grant(self, root: Path, grants: Grants) -> None:
        """Add ``grants`` to those of ``root``. Raises OSError where nothing can be written."""
        known = self.grants(root)
        folders = list(dict.fromkeys((*known.allow_write, *grants.allow_write)))
        answer = {"root": str(root), "network": known.network or grants.network, "allow_write": folders}
        write_atomically(self._grants_file(root), json.dumps(answer))

    def revoke(self, root: Path) -> None:
        """Forget the answer for ``root``, and the grants. Raises OSError where they cannot be deleted."""
        self._file(root).unlink(missing_ok=True)
        self._grants_file(root).unlink(missing_ok=True)

    def _grants_file(self, root: Path) -> Path:
        return self.folder / "grants" / self._file(root).name

    def _file(self, root: Path) -> Path:
        return self.folder / f"{hashlib.sha256(os.fsencode(root)).hexdigest()[:24]}.json"


def _root_in(file: Path) -> Path | None:
    """The workspace that an answer is about, if it is a yes."""
    answer = _answer_in(file)
    return Path(answer["root"]) if answer.get("allowed") is True and isinstance(answer.get("root"), str) else None


def _answer_in(file: Path) -> dict[str, Any]:
    try:
        answer = json.loads(read_regular(file))
    except (OSError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}


def permission(trusted: bool | None, setting: Consent | None, remembered: bool, declined: bool) -> Permission:
    """What may happen in the background.

    ``trusted`` is None in an editor that knows no trust in workspaces; ``setting`` is None where the user has not set it.
    ``declined``: the user said "not now" in this session and is not asked again.
    """
    if trusted is False:
        return Permission.UNTRUSTED
    if setting is Consent.NEVER:
        return Permission.REFUSED
    if setting is Consent.ALWAYS or remembered:
        return Permission.ALLOWED
    if declined:
        return Permission.REFUSED
    return Permission.UNSET if trusted is None and setting is None else Permission.ASK
