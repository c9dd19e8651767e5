"""The variables by which a compiler is found, and by which it finds headers, libraries and its own parts.

Server and agent use it: it needs the standard library alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

SEARCH_PATH = "PATH"
COMPILERS = ("CXX", "CC")
# gcc's "Environment Variables", ld.so(8), dyld(1), clang's driver (clang/tools/driver/driver.cpp), and ccache(1), which starts what it is
# told to
OF_COMPILERS = re.compile(
    r"^(?:(?:C|CPLUS|OBJC)_INCLUDE_PATH|CPATH|(?:LD_)?LIBRARY_PATH|LD_RUN_PATH|COMPILER_PATH|DYLD_\w*PATH|GCC_EXEC_PREFIX|LD_(?:PRELOAD|AUDIT)"
    r"|CCACHE_\w+|C(?:PP|XX)?FLAGS|LDFLAGS|CCC_OVERRIDE_OPTIONS)$"
)
_BETWEEN = re.compile(rf"[\s'\"=,;]|(?:^|(?<=\s))[#+^]+|(?<=-[ILB])|{re.escape(os.pathsep)}")


def named_beside_the_search_path(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The absolute paths that such a variable names, each with the variable; those of ``SEARCH_PATH`` and of compilers left out."""
    for variable, value in environment.items():
        if variable != SEARCH_PATH and OF_COMPILERS.match(variable):
            yield from ((variable, word) for word in _BETWEEN.split(value) if os.path.isabs(word))


def named_places(environment: Mapping[str, str]) -> tuple[str, ...]:
    """All absolute paths that such variables name, compilers and entries of the search path among them."""
    programs = (word for name in COMPILERS for word in environment.get(name, "").split())
    entries = environment.get(SEARCH_PATH, "").split(os.pathsep)
    found = (*programs, *entries, *(place for _, place in named_beside_the_search_path(environment)))
    return tuple(dict.fromkeys(filter(os.path.isabs, found)))
