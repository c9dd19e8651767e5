"""Runs a script as far as it comes: statements that fail are skipped with what depends on them (``continuing.py``)."""

from __future__ import annotations

import ast
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from .. import OWN_FOLDER
from ..runtime.counted_arguments import counted_arguments
from ..runtime.entry_protocol import ArgumentsMadeUp, StatementsSkipped, WorkingFolderChosen
from ..runtime.program_text import remember
from ..runtime.raised import report_aside
from ..runtime.wire import Wire
from . import compiled_call
from .calling.ahead import ENDING_S
from .calling.memory import bounded, is_of_limit
from .calling.time_limit import by_clock
from .importing import missing_imports, project_modules
from .importing.absent import Absent, given_functions
from .importing.as_written import runs_as_written
from .importing.failed_imports import Mender
from .importing.made_up_arguments import made_up, value_for
from .importing.missing_imports import project_root
from .importing.module import package_of
from .recording.explorer import longest_by_clock
from .recording.function_recorder import is_own_file
from .recording.watched_program import WatchedProgram
from .scripts.commands import commands
from .scripts.configured_functions import settings_for
from .scripts.continuing import GUARD, rewritten
from .scripts.failed_constructions import FailedConstructions
from .scripts.guard import Enough, Guard
from .scripts.guarded_callees import GuardedCallees
from .scripts.imported_models import ImportedModel, imported_models
from .scripts.named_models import NamedModel, named_models
from .scripts.open_values import fill
from .scripts.working_folder import working_folder
from .synthesis.source.signatures import read_parameters

# of those that are kept with the frames that they ended
MOST_ERRORS = 12


class GuardedScript:
    """A script that runs with guards, and what is learned of its models.

    ``page`` is where its text stands, if that is not the file: what fails there is not the file's. ``owns`` tells models of the file.
    """

    def __init__(self, file: str, wire: Wire, page: str = "", owns: Callable[[Any], bool] | None = None) -> None:
        self._file = file
        self._page = page or file
        self._owns = owns
        self._wire = wire
        self._program: WatchedProgram | None = None
        self._constructions = FailedConstructions()
        self._raised: list[BaseException] = []
        self._callees = GuardedCallees(self._page, lambda path: is_own_file(path, self._page))
        self._has_made_up_arguments = False
        self._has_failed = False
        self._source = ""
        self._ending: SystemExit | None = None
        self._guarded: dict[tuple[int, int], ast.stmt] = {}
        self._mender = Mender(file, wire, self._tell_import)
        self.first_failure: BaseException | None = None
        self.took_too_long = False

    def run(self, source: str, seconds: float, clock_seconds: float = 0.0, memory_bytes: int = 0) -> None:
        """Run it for ``seconds`` of processor time at most, or until its models are known: within most of ``memory_bytes`` if that is not
        0, and, whatever it is doing, for no more than ``clock_seconds`` by the clock."""
        longest = longest_by_clock(seconds)
        clock_seconds = clock_seconds or longest
        missing_imports.install(self._file, self._wire)
        project_modules.install(self._file, self._wire, self._tell_import)
        self._source = source
        guard = Guard(seconds, self._report, self._constructions.add, self._mend, self._note_failure)
        self._constructions.read(source)
        Enough.was_raised = False
        program = self._program = WatchedProgram(
            self._page, min(longest, clock_seconds), guard.check_time, self._owns, guard.pace
        )
        self._choose_folder(source)
        names = self._main_module(source).__dict__
        names[GUARD] = guard
        remember(self._page, source)
        code = rewritten(source, self._page, self._guarded)
        compiled_call.seed()
        self._count_arguments(source)

        def body() -> None:
            with made_up(self._arguments), bounded(memory_bytes), by_clock(clock_seconds + ENDING_S, guard.end):
                exec(code, names)
                if not runs_as_written():
                    self._go_on_in_callees(guard, program)
                    self._start_by_stubs(guard, program)
                    self._start_commands(guard, program, names, source)
                    self._go_on_in_callees(guard, program)

        program.run(body)
        if self._ending is not None and not self._has_made_up_arguments:
            self._tell(self._ending)
        self.first_failure = guard.first
        self.took_too_long = guard.is_over
        if guard.lines and self._page == self._file:
            self._wire.tell(StatementsSkipped(tuple(sorted(guard.lines))))

    def _choose_folder(self, source: str) -> None:
        """Run in the folder where the files are that the script names, if the current one has none of them."""
        chosen = working_folder(source, self._page, project_root(self._page)) if self._page == self._file else None
        if chosen is not None and not runs_as_written():
            os.chdir(chosen.folder)
            self._wire.tell(WorkingFolderChosen(chosen.folder, chosen.path))

    def _count_arguments(self, source: str) -> None:
        """Pass the arguments without which the program would end, where nobody passed any."""
        lacking = counted_arguments(source) if not sys.argv[1:] and not runs_as_written() else []
        if lacking:
            sys.argv[1:] = [
                str(value_for(each.name or f"argument{each.number}", each.kind, each.choices)) for each in lacking
            ]
            self._arguments([each.shown for each in lacking])

    def _go_on_in_callees(self, guard: Guard, program: WatchedProgram) -> None:
        """Go on in the functions of other files in which statements of this one have failed."""
        self._callees.go_on(self._raised, guard, program.has_models)

    def _start_by_stubs(self, guard: Guard, program: WatchedProgram) -> None:
        """Call the functions of the file that a missing library would have called with arguments of the command line."""
        for function in given_functions:
            if program.has_models() or function.__code__.co_filename != self._page:
                continue
            lacking = [info for info in read_parameters(function, skip_first=False) if info.required]
            absent = Absent(ModuleNotFoundError("its caller is not installed"))
            settings = settings_for(function, self._source, self._page)
            made_up = [path for each in settings.values() for path in fill(each)]
            if made_up:
                self._arguments(made_up)
            given = {info.name: absent for info in lacking} | settings
            try:
                function(**given)
            except Exception as error:  # code of the user's may raise anything
                guard.failed(error, function.__code__.co_firstlineno)

    def _start_commands(self, guard: Guard, program: WatchedProgram, names: dict[str, Any], source: str) -> None:
        """Start what the program leaves to a library that reads the command line."""
        for command in () if program.has_models() else commands(names, source, self._page):
            self._arguments([command.name, *command.lacking])
            try:
                command.run()
            except (Exception, SystemExit) as error:  # code of the user's and of libraries may raise anything
                guard.failed(error, 0)
            if program.has_models():
                return

    @property
    def program(self) -> WatchedProgram:
        """What is learned of it. It has run before."""
        assert self._program is not None
        return self._program

    @property
    def was_ended(self) -> bool:
        """Whether something kept it from coming to its end."""
        return self.first_failure is not None or self.took_too_long or self._ending is not None

    def named_models(self) -> list[NamedModel]:
        """The models that it would construct in what it has not reached. It has run before."""
        names = vars(sys.modules["__main__"])
        return named_models(self._source, names, lambda path: is_own_file(path, self._page))

    def imported_models(self) -> Iterator[ImportedModel]:
        """The models that it imports, or would import, of its project. It has run before."""
        names = vars(sys.modules["__main__"])
        return imported_models(self._source, names, self._page, lambda path: is_own_file(path, self._page))

    def not_constructed(self) -> Iterator[tuple[type, dict[str, str]]]:
        """Classes of models whose construction failed, with the arguments that are known."""
        for constructions in (self._constructions, *self._callees.constructions):
            yield from constructions.found

    def _arguments(self, names: list[str]) -> None:
        self._has_made_up_arguments = True
        self._wire.tell(ArgumentsMadeUp(tuple(names)))

    def _report(self, error: BaseException) -> None:
        """Say what the first statement raised that failed: the program itself comes no further, with made-up arguments not even so far."""
        if Enough.was_raised:
            return
        if len(self._raised) < MOST_ERRORS:
            self._raised.append(error)
        if is_of_limit(error):
            return  # the program has more memory elsewhere
        if isinstance(error, SystemExit) and not self._has_failed:
            self._ending = (
                self._ending or error
            )  # it may have lacked arguments, which are made up when all else has run
        elif self._ending is None:
            self._tell(error)

    def _note_failure(self, error: BaseException) -> None:
        if self._program is not None:
            self._program.note_failure(error)

    def _tell(self, error: BaseException, where: str = "statement") -> None:
        if self._has_failed or self._has_made_up_arguments or self._page != self._file:
            return
        self._has_failed = True
        report_aside(error, self._wire, OWN_FOLDER, where)

    def _tell_import(self, error: BaseException, where: str) -> None:
        """Say what a module of the project raised, or what a statement did that has run without a part of it."""
        if self._ending is None:
            self._tell(error, where)

    def _mend(self, place: tuple[int, int], error: BaseException, names: dict[str, Any]) -> BaseException | None:
        node = self._guarded.get(place)
        return error if node is None else self._mender.mend(node, error, names, self._page)

    def _main_module(self, source: str) -> types.ModuleType:
        """The module ``__main__``; in a package, as ``python -m`` makes it. An example of a page stands beside the package."""
        is_program = self._page.endswith(".py")
        path = self._page if is_program else self._file
        main = types.ModuleType("__main__")
        folder, name = package_of(path, source)
        main.__file__, main.__loader__ = path, importlib.machinery.SourceFileLoader("__main__", path)
        main.__package__ = name.rpartition(".")[0] or None
        sys.modules["__main__"] = main
        # a file of the name of the package may stand beside the script
        for each in (os.path.dirname(path), folder) if is_program else (folder,):
            if each not in sys.path:
                sys.path.insert(0, each)
        return main
