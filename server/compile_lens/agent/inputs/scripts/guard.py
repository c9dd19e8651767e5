"""What guarded statements (``continuing.py``) ask: whether to go on after a failure, and how often a loop turns."""

from __future__ import annotations

import collections
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any, NoReturn

from ..importing.absent import Absent, NeedsAbsent, cause_of
from ..importing.as_written import runs_as_written
from .failed_constructions import FailedConstructions
from .pace import Loop, Pace

Mend = Callable[[tuple[int, int], BaseException, dict[str, Any]], "BaseException | None"]
# what an import asks of the module that it is in
_OF_IMPORTS = ("__name__", "__package__", "__spec__", "__path__", "__file__")
# a loop in which statements fail is left after so many turns
FAILING_TURNS = 2
# how many times longer than its processor time a program may take
BUSY = 3.0


class Enough(BaseException):
    """Ends the program when its models are known; no handler of the program's should take it.

    One that does (`doctest` takes any exception) goes on, and what fails then is for our end of it: ``was_raised`` says so.
    """

    was_raised = False

    def __init__(self) -> None:
        super().__init__()
        Enough.was_raised = True


class Guard:
    """Notes the failures of guarded statements, for ``seconds`` of processor time, imports not counted.

    ``on_failure`` gets the exceptions that are not consequences of earlier ones, ``on_skipped`` the frame and the line of every
    statement that did not run to its end, and ``on_ended`` what such a statement raised. ``mend`` runs one that failed without what
    failed of it: it gets its line and column, what was raised and the names of the module, and gives what remains of that. ``pace`` is told
    of the calls of models, and loops are left as it says.
    """

    def __init__(
        self,
        seconds: float,
        on_failure: Callable[[BaseException], object],
        on_skipped: Callable[[FrameType, int], object],
        mend: Mend | None = None,
        on_ended: Callable[[BaseException], object] | None = None,
    ) -> None:
        # on a busy machine the same comes out, up to a limit by the clock
        self._end = time.process_time() + seconds
        self._clock_end = time.monotonic() + seconds * BUSY
        self._on_failure = on_failure
        self._on_skipped = on_skipped
        self._mend = mend
        self._on_ended = on_ended
        self._expecting = 0
        self._turns: dict[int, tuple[int, int]] = {}
        self.pace = Pace()
        self._loops: dict[int, Loop] = {}
        self.last: Any = None
        self.first: BaseException | None = None
        self.failures = 0
        self.lines: set[int] = set()
        self.is_over = False

    def of_another_file(self, constructions: FailedConstructions) -> Guard:
        """One for statements of another file, for the time that is left."""
        other = Guard(0.0, self._on_failure, constructions.add, on_ended=self._on_ended)
        other._end, other._clock_end, other.pace = self._end, self._clock_end, self.pace
        return other

    def check_time(self) -> None:
        """Raise Enough when the time is up."""
        if time.process_time() > self._end or time.monotonic() > self._clock_end:
            self.end()

    def end(self) -> NoReturn:
        """End the program at what it is doing. Raises Enough."""
        self.is_over = True
        raise Enough

    @contextlib.contextmanager
    def importing(self) -> Iterator[None]:
        """The body imports something: how long that takes says nothing of how far the program is."""
        started, clock_started = time.process_time(), time.monotonic()
        try:
            yield
        finally:
            self._end += time.process_time() - started
            self._clock_end += time.monotonic() - clock_started

    def imported(self, error: BaseException, line: int, column: int, names: dict[str, Any]) -> Mapping[str, Any]:
        """What each name of an import stands for that failed with ``error``. Raises as ``failed``."""
        # one in a function binds names of the function
        found = {name: names[name] for name in _OF_IMPORTS if name in names}
        with self.importing():
            remaining = self._remaining(error, line, column, found)
        absent = None if remaining is None else self.failed(remaining, line)
        return collections.defaultdict(lambda: absent, found)

    def mended(self, error: BaseException, line: int, column: int, names: dict[str, Any]) -> bool:
        """Whether a statement of the module that failed has run after all, without what failed of it."""
        return self._remaining(error, line, column, names) is None

    def _remaining(self, error: BaseException, line: int, column: int, names: dict[str, Any]) -> BaseException | None:
        if self._mend is None or self._expecting or isinstance(error, Enough) or runs_as_written():
            return error
        return self._mend((line, column), error, names)

    def failed(self, error: BaseException, line: int) -> Absent:
        """What a failed statement binds. Raises ``error`` again where it is the end of the program, or the program handles it, and
        Enough where nothing runs after a failure."""
        if self.is_over and isinstance(error, Enough) and error.__traceback__ is not None:
            # it was at work on what it may be about
            self._on_skipped(error.__traceback__.tb_frame, line)
        is_end = isinstance(error, SystemExit) and error.code in (None, 0)
        if is_end or isinstance(error, Enough | GeneratorExit | KeyboardInterrupt) or self._expecting:
            raise error
        self.check_time()
        self.failures += 1
        self.lines.add(line)
        cause = error.cause if isinstance(error, NeedsAbsent) else error
        if not isinstance(error, NeedsAbsent) and not self.pace.has_left:
            self.first = error if self.first is None else self.first
            self._on_failure(error)
        if self._on_ended is not None:
            self._on_ended(error)
        if runs_as_written():
            raise Enough
        if error.__traceback__ is not None:
            self._on_skipped(error.__traceback__.tb_frame, line)
        return Absent(cause)

    def each(self, values: Iterable[Any]) -> Iterator[Any]:
        """The items of ``values``; one that is absent where they are. Ends early while statements of the loop fail, and where the loop has
        shown how it calls models."""
        if cause_of(values) is not None:
            yield values
            return
        failing, loop = 0, self.pace.begin()
        for value in values:
            before = self.failures
            yield value
            self.check_time()
            failing = failing + 1 if self.failures > before else 0
            if failing >= FAILING_TURNS or self.pace.is_enough(loop):
                return

    def turn(self, loop: int) -> bool:
        """Whether the `while` loop ``loop`` may turn once more."""
        self.check_time()
        before, failing = self._turns.get(loop, (self.failures, 0))
        failing = failing + 1 if self.failures > before else 0
        self._turns[loop] = (self.failures, failing)
        if loop not in self._loops:
            self._loops[loop] = self.pace.begin()
        elif self.pace.is_enough(self._loops[loop]):
            del self._loops[loop]  # it may begin again
            return False
        return failing < FAILING_TURNS

    def context(self, manager: Any) -> Any:
        """``manager``; where it is absent, one that does nothing and enters as what is absent."""
        return contextlib.nullcontext(manager) if cause_of(manager) is not None else manager

    @contextlib.contextmanager
    def expecting(self) -> Iterator[None]:
        """The program handles errors of the body itself."""
        self._expecting += 1
        try:
            yield
        finally:
            self._expecting -= 1
