"""Prints, as JSON, what an interpreter is, and why it cannot run the bundled server if it cannot.

Any Python must be able to read this file: it is how the extension learns that one is too old.
"""

import json
import os
import re
import sys

OLDEST = (3, 10)
NEWEST = (3, 14)
BINARIES = ("tree_sitter", "tree_sitter_python", "msgspec", "psutil")


def problem():
    """One sentence, or None if the server can run."""
    version = "%d.%d" % sys.version_info[:2]
    if sys.version_info[:2] < OLDEST:
        return "Python %s is too old: 3.10 or later is needed." % version
    libs = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "libs")
    sys.path.insert(len(sys.path) if "fromEnvironment" in sys.argv else 0, libs)
    try:
        for name in BINARIES:
            __import__(name)
    except ImportError as error:
        if sys.version_info[:2] > NEWEST:
            return "Python %s is newer than the packages of this extension: 3.10 to 3.14 are included." % version
        return "The packages of this extension do not fit this Python (%s)." % error
    finally:
        sys.path.remove(libs)
    return None


def torch_version():
    """The version of the installed torch, read without an import; None if there is none."""
    if sys.version_info[:2] < OLDEST:
        return None
    for entry in sys.path:
        try:
            with open(os.path.join(entry, "torch", "version.py")) as file:
                found = re.search(r"__version__ = '([^']+)'", file.read())
        except (OSError, ValueError):
            continue
        if found:
            return found.group(1)
    return None


def has_mcp():
    """Whether the SDK of the Model Context Protocol is installed, in a version with which `compile-lens mcp` runs."""
    return any(os.path.isfile(os.path.join(entry, "mcp_types", "__init__.py")) for entry in sys.path)


facts = {
    "executable": sys.executable,
    "version": sys.version.split()[0],
    "torch": torch_version(),
    "mcp": has_mcp(),
    "problem": problem(),
}
print(json.dumps(facts))
