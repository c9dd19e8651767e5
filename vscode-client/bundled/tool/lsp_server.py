"""Starts the language server of this extension: ``PYTHON lsp_server.py useBundled|fromEnvironment serve``.

Nothing is installed, and no environment variable is set but those that the extension left out to start this: what the server starts, the
user's programs above all, does not see ``libs``.
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# vscode-client/src/loadedVariables.ts
GIVEN = "COMPILE_LENS_GIVEN"
LIBS = os.path.join(os.path.dirname(HERE), "libs")


def main():
    """Put the bundled packages before or behind those of the interpreter, and become the command ``compile-lens``."""
    os.environ.update(json.loads(os.environ.pop(GIVEN, "{}")))
    strategy = sys.argv.pop(1)
    others = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != HERE]
    sys.path[:] = [*others, LIBS] if strategy == "fromEnvironment" else [LIBS, *others]
    from compile_lens.cli.main import main as compile_lens

    compile_lens()


if __name__ == "__main__":
    main()
