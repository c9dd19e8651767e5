"""Keeps what functions were called with in earlier runs and loaded traces, without values of tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from compile_lens.analysis.outcome import Outcome
from compile_lens.analysis.recorded_calls import RecordedCall
from compile_lens.state.file_memory import FileMemory
from compile_lens.user_folders import state_folder

if TYPE_CHECKING:
    from compile_lens.entries.recorded import Recording


class CallMemory(Struct, frozen=True):
    """The recordings, one per file, in the user's state directory or another ``folder``."""

    folder: Path

    @staticmethod
    def of_user() -> CallMemory:
        """The memory of the user who runs this process."""
        return CallMemory(state_folder() / "calls")

    def recall(self, file: str) -> Recording | None:
        """The newest recording of ``file``."""
        from compile_lens.entries.recorded import Recording  # late, here and below: a trace is opened without entries

        known = FileMemory(self.folder).recall(file)
        calls = known.get("calls")
        if not isinstance(calls, list):
            return None
        found = [(str(call["name"]), dict(call["inputs"])) for call in calls if _is_call(call)]
        return Recording(str(known.get("origin", "")), tuple(found)) if found else None

    def take_run(self, outcome: Outcome) -> None:
        """Keep the calls of a run that had inputs of its own: none that were made up here, or recorded before."""
        from compile_lens.entries.entry import RECORDED, SYNTHESIZED

        made_up = outcome.entry.partition(":")[0] in (SYNTHESIZED, RECORDED) or any(
            call.making for call in outcome.calls
        )
        if outcome.recorded and not made_up:
            self.take(outcome, f"a run of {outcome.entry_title} on {datetime.now():%Y-%m-%d}")

    def take(self, outcome: Outcome, origin: str) -> None:
        """Keep what ``outcome`` tells of calls, each for its file. What cannot be written is not kept."""
        by_file: dict[str, list[RecordedCall]] = {}
        for call in outcome.recorded:
            by_file.setdefault(call.file, []).append(call)
        for file, calls in by_file.items():
            with contextlib.suppress(OSError):
                FileMemory(self.folder).remember(file, {"origin": origin, "calls": list(_json(calls))})


def _json(calls: Sequence[RecordedCall]) -> Iterable[Mapping[str, object]]:
    return ({"name": call.name, "inputs": dict(call.inputs)} for call in calls)


def _is_call(call: object) -> bool:
    return isinstance(call, dict) and isinstance(call.get("name"), str) and isinstance(call.get("inputs"), dict)
