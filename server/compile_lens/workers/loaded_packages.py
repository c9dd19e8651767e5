"""Remembers what each program's last run imported from installed packages, and has the standby import it before the next run.

Once a run has compiled kernels, the standby is to do so before each next one, too.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace

from compile_lens.agent.runtime.protocol import Depth, LoadCommand, Packages, RunCommand
from compile_lens.agent.runtime.regular_file import read_regular_text
from compile_lens.workers import import_path
from compile_lens.workers.caches import CACHE_VARIABLES

# statements that import, over several lines too; what one of a program's other files imports, its last run tells
IMPORTS = re.compile(r"^[ \t]*(?:from[ \t][^\n]*?\bimport[ \t]*\([^()]*\)|(?:from|import)[ \t][^\n]*)", re.MULTILINE)
MOST_PROGRAMS = 200
# a program may send any list
MOST_MODULES = 20_000
MOST_FILES = 2_000
# the variables that we set
OF_RUNS = {*CACHE_VARIABLES, import_path.VARIABLE}

Program = tuple[str, str]


class LoadedPackages:
    """For one standby, which has one set of packages loaded besides torch at most; none where it is not ``active``."""

    def __init__(self, active: bool) -> None:
        self._active = active and sys.platform == "linux"
        self._imported: dict[Program, Packages] = {}
        self._heard: Packages | None = None
        self._loaded: LoadCommand | None = None
        self._compiles = False

    def forget_loaded(self) -> None:
        """The standby is a new one."""
        self._loaded = None

    def add_to(self, command: RunCommand) -> RunCommand:
        """``command``, which is to run now, with the packages of the run before, if that had the same imports."""
        self._heard = None
        packages = self._imported.get(_program(command)) if self._active and _may_load(command) else None
        is_worth_it = packages is not None and (packages.modules or self._compiles)
        return replace(command, packages=packages if is_worth_it else None)

    def hear(self, packages: Packages) -> None:
        """The program that runs has imported ``packages``."""
        self._heard = packages

    def after(self, command: RunCommand) -> LoadCommand | None:
        """What the standby is to do now that ``command`` has run; None where nothing is to be done."""
        packages = self._heard
        if not self._active or packages is None or command.sandbox is None or not _may_load(command):
            return None
        self._compiles |= command.depth is Depth.INDUCTOR
        if len(packages.modules) > MOST_MODULES or len(packages.own_files) > MOST_FILES:
            return None
        program = _program(command)
        self._imported.pop(program, None)
        self._imported[program] = packages
        if len(self._imported) > MOST_PROGRAMS:
            del self._imported[next(iter(self._imported))]
        if not packages.modules and not self._compiles:
            return None
        wanted = LoadCommand(packages, command.env, command.sandbox.network, self._compiles)
        if self._loaded is not None and _is_same(wanted, self._loaded):
            return None
        self._loaded = wanted
        return wanted


def _may_load(command: RunCommand) -> bool:
    # variables that a workspace's launch.json sets may have native code of a package load what they name
    has_own = command.env.keys() <= OF_RUNS
    return command.sandbox is not None and command.search is None and command.preview is None and has_own


def _is_same(one: LoadCommand, other: LoadCommand) -> bool:
    return _key(one) == _key(other)


def _key(command: LoadCommand) -> tuple[object, ...]:
    return command.load.modules, dict(command.env), command.network, command.compiles


def _program(command: RunCommand) -> Program:
    text = command.text
    if text is None:
        try:
            text = read_regular_text(command.file)
        except OSError:
            text = ""
    return command.file, "\n".join(IMPORTS.findall(text))
