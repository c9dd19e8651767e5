"""Tries the fixes of a text in their order, the next ones already while one is tried.

What is tried, and in which order it counts, is as if they were tried one after the other: what is looked ahead at is a guess of which
fix comes next, and counts when its turn comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Fix, FixKind
from compile_lens.fixes.next_fix import FixesOf, next_fix
from compile_lens.fixes.verify import Verifier

# what is assumed of a fix that is still tried
_UNKNOWN = FixEffect(FindingCounts(), FindingCounts())
Find = Callable[[Fix], Coroutine[None, None, FixEffect]]


class LookAhead:
    """Tries at most ``most`` of the fixes ``offered``, each with ``find``, ``width()`` of them at a time.

    Where two may run, ``prepare``, which has what every try is compared with, takes the place of the second at first.
    """

    def __init__(
        self,
        offered: Sequence[FixesOf],
        verifier: Verifier,
        find: Find,
        most: int,
        width: Callable[[], int],
        prepare: Callable[[], Coroutine[None, None, Any]],
    ) -> None:
        self._offered = offered
        self._known = verifier.known
        self._find = find
        self._most = most
        self._width = width
        self._tries: dict[Fix, asyncio.Task[FixEffect]] = {}
        self._prepare = prepare
        self._prepared: asyncio.Task[Any] | None = None

    @asynccontextmanager
    async def tried(self) -> AsyncIterator[AsyncIterator[Fix]]:
        """Gives each fix once its effect is known; what is still tried at the end of the block is canceled."""
        try:
            yield self._tried()
        finally:
            tasks = self._all()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _tried(self) -> AsyncIterator[Fix]:
        while (fix := self._next({})) is not None:
            self._begin(fix)
            while not self._tries[fix].done():
                self._look_ahead()
                await asyncio.wait(self._under_way(), return_when=asyncio.FIRST_COMPLETED)
            self._known[fix] = self._tries.pop(fix).result()
            yield fix

    def _next(self, assumed: dict[Fix, FixEffect]) -> Fix | None:
        known = {**assumed, **self._known}
        return next_fix(self._offered, known) if len(known) < self._most else None

    def _look_ahead(self) -> None:
        while len(self._under_way()) < self._width():
            if self._prepared is None:
                self._prepared = asyncio.create_task(self._prepare())
                continue
            fix = self._guess()
            if fix is None or (not self._may_serve(fix) and any(map(self._may_serve, self._tries))):
                return
            self._begin(fix)

    def _guess(self) -> Fix | None:
        """The fix that is next if those that are tried help: one for a finding that waits for none of them. Else the next one."""
        assumed = {fix: task.result() if _has_result(task) else _UNKNOWN for fix, task in self._tries.items()}
        known = {**assumed, **self._known}
        under_way = {fix for fix, task in self._tries.items() if not task.done()}
        waiting = [each for each in self._offered if not each.is_served(known) and under_way.isdisjoint(each.fixes)]
        fix = next_fix(waiting, known) if len(known) < self._most else None
        return fix if fix is not None and fix.kind is FixKind.CHANGE else self._next(assumed)

    def _may_serve(self, fix: Fix) -> bool:
        """Whether a finding waits for it. What none waits for would only slow down those that some wait for."""
        is_wanted = fix.kind is FixKind.CHANGE
        return is_wanted and any(fix in each.fixes and not each.is_served(self._known) for each in self._offered)

    def _begin(self, fix: Fix) -> None:
        if fix not in self._tries:
            self._tries[fix] = asyncio.create_task(self._find(fix))

    def _under_way(self) -> list[asyncio.Task[Any]]:
        return [task for task in self._all() if not task.done()]

    def _all(self) -> list[asyncio.Task[Any]]:
        return [*self._tries.values(), *([] if self._prepared is None else [self._prepared])]


def _has_result(task: asyncio.Task[Any]) -> bool:
    """Whether it has come to its end without an error."""
    return task.done() and not task.cancelled() and task.exception() is None
