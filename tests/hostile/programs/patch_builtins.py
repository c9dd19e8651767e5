# Replaces open and import.
# overlay: raised run-error

import planted
import builtins
builtins.open = builtins.compile = builtins.exec = None
builtins.__import__ = lambda *_, **__: 1 / 0
import anything
