"""The entry point of the command ``compile-lens``."""

from __future__ import annotations

import gc
import sys

SERVE = ["serve"]
# what a command makes stays until its end: it is looked through for garbage less often than by default (700), and starts sooner
YOUNG_OBJECTS = 200_000


def main() -> None:
    """Run the verb that the command line names. What editors start has no options: while they wait, nothing is imported to parse them."""
    if sys.argv[1:] == SERVE:
        from compile_lens.cli.serve import run_server

        sys.exit(run_server())
    gc.set_threshold(YOUNG_OBJECTS)
    from compile_lens.cli.verbs import run_verb

    code = run_verb(sys.argv[1:])
    # at its end, Python looks through all objects for cycles; the process takes them with it
    gc.freeze()
    sys.exit(code)
