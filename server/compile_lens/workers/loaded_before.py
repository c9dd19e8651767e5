"""Variables by which libraries, Python and other programs load or start code that is no part of a program: into what runs outside of the
sandbox.

Tools that set variables as one enters a folder have such from its repository. What it brought is left out there, and the program gets
the variables whole, with its run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from compile_lens.late_pattern import pattern

# ld.so(8), dyld(1), iconv(3), Python's command line and environment, and its sysconfig (from 3.14 on), OpenSSL's openssl-env(7), OpenMP's
# OMP_TOOL_LIBRARIES, NVIDIA's CUPTI (CUDA_INJECTION64_PATH) and NVTX, and AMD's ROCr
NAMES = pattern(
    r"^(?:LD_(?:LIBRARY_PATH|PRELOAD|AUDIT)|DYLD_\w*(?:PATH|LIBRARIES)|GCONV_PATH|LOCPATH|NLSPATH|PYTHON(?:HOME|PYCACHEPREFIX|USERBASE|PLATLIBDIR)"
    r"|_PYTHON_(?:SYSCONFIGDATA_PATH|PROJECT_BASE)"
    r"|OPENSSL_(?:CONF|CONF_INCLUDE|MODULES|ENGINES)|OMP_TOOL_LIBRARIES|(?:CUDA|NVTX)_INJECTION(?:32|64)_PATH|HSA_TOOLS_LIB)$"
)
# Of these, each is a command, a program, a file of Python, or several (git(1), ssh(1), environ(7), Python's webbrowser), or a locale,
# which may be a folder (setlocale(3)); a script that shells read before one of theirs, as the shim of an interpreter may be (bash(1)); or
# libraries of a driver, separated in various ways (Level Zero's loader, Unified Runtime, XPTI, OpenCL's loader, NCCL)
COMMANDS = pattern(
    r"^(?:GIT_\w+|SSH_ASKPASS|BROWSER|EDITOR|VISUAL|(?:MAN)?PAGER|LESS(?:OPEN|CLOSE)|PYTHON(?:STARTUP|BREAKPOINT|INSPECT)"
    r"|LC_[A-Z]+|LANG(?:UAGE)?|BASH_ENV|ENV|ZE_ENABLE_ALT_DRIVERS|ZEL_LIBRARY_PATH|UR_ADAPTERS_(?:FORCE_LOAD|SEARCH_PATH)"
    r"|XPTI_(?:FRAMEWORK_DISPATCHER|SUBSCRIBERS)|OCL_ICD_(?:FILENAMES|VENDORS)|NCCL_(?:NET|TUNER|PROFILER)_PLUGIN)$"
)
# what separates the words of a command, for a shell, and commands from one another
_BETWEEN_WORDS = pattern(rf"[\s'\"`;,|&()=<>]|{re.escape(os.pathsep)}")
# the loader takes semicolons for colons, and in lists of libraries blanks, too (glibc's elf/dl-load.c, elf/rtld.c)
OF_LOADER = ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT")
WITH_BLANKS = ("LD_PRELOAD",)
# it fills in `$LIB`, `$PLATFORM` and `$ORIGIN`, the folder of a program
FILLED_IN = "$"


def without(
    environment: Mapping[str, str], is_left_out: Callable[[Path], bool], *, keeps_relative: bool = True
) -> dict[str, str]:
    """What to set in the place of such variables: only of those that name what ``is_left_out``. To all, an empty one is none.

    Relative paths are those of the folder where something is started: ``keeps_relative`` where that is none of a workspace.
    """

    def is_kept(entry: str) -> bool:
        place = Path(entry)
        return not is_left_out(place) if place.is_absolute() else keeps_relative

    def is_loaded(entry: str) -> bool:
        # what is before it says where it leads to at most, unless that is nothing
        begin, filled_in, _ = entry.partition(FILLED_IN)
        return is_kept(begin) and not (filled_in and not begin)

    found = {}
    for name, value in environment.items():
        if NAMES.search(name):
            entries = _entries(name, value)
            kept = [entry for entry in entries if is_loaded(entry)]
            if kept != entries:
                found[name] = os.pathsep.join(kept)
        elif COMMANDS.search(name) and not all(
            map(is_kept, filter(_is_path, map(_filled_in, _BETWEEN_WORDS.split(value))))
        ):
            found[name] = ""
    return found


def _entries(name: str, value: str) -> list[str]:
    if name not in OF_LOADER:
        return value.split(os.pathsep)
    blanks = r"\s" if name in WITH_BLANKS else ""
    return re.split(f"[:;{blanks}]", value)


def _filled_in(word: str) -> str:
    """A word as a shell reads it."""
    return os.path.expanduser(os.path.expandvars(word))  # noqa: PTH111 - a part of a command


def _is_path(word: str) -> bool:
    """Whether ``word`` is none that is looked for on a search path."""
    return "/" in word or os.sep in word
