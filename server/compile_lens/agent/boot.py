"""Entry of the agent: ``PYTHON /abs/path/agent/boot.py`` is the standby; ``… boot.py tables OUTPUT`` extracts what torch says
of itself, ``… boot.py environment`` prints what an analysis finds around it, and ``… boot.py step SETUP`` is one step of a search.

A script started by its path puts its own folder first on ``sys.path``; that entry is removed at once, and the other files of
this folder are loaded as a package of a private name, so that nothing of ours can shadow, or be shadowed by, the user's modules. Outside of
a sandbox, only installed code is imported (``runtime/installed_imports.py``).
"""

import sys

# a finder of an editable install may find a module of the standard library in a workspace, or build what it is asked for
FINDERS = list(sys.meta_path)
if __name__ == "__main__":
    sys.meta_path[:] = [
        finder for finder in FINDERS if str(getattr(finder, "__module__", "")).startswith("_frozen_importlib")
    ]

import importlib.util  # noqa: E402
from pathlib import Path  # noqa: E402

PACKAGE = "_compile_lens_agent"


def load() -> None:
    """Load this folder as the package ``_compile_lens_agent``."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != here]
    spec = importlib.util.spec_from_file_location(PACKAGE, here / "__init__.py", submodule_search_locations=[str(here)])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    load()
    # a step of a search is the program itself
    if sys.argv[1:2] == ["step"]:
        sys.meta_path[:] = FINDERS
        step = importlib.import_module(f"{PACKAGE}.search.step")
        sys.exit(step.main(sys.argv[2:]))
    importlib.import_module(f"{PACKAGE}.runtime.installed_imports").restrict(FINDERS)
    if sys.argv[1:2] == ["tables"]:
        extract = importlib.import_module(f"{PACKAGE}.tables.extract")
        sys.exit(extract.main(sys.argv[2:]))
    if sys.argv[1:2] == ["environment"]:
        sys.exit(importlib.import_module(f"{PACKAGE}.runtime.environment_report").main())
    standby = importlib.import_module(f"{PACKAGE}.runtime.standby")
    sys.exit(standby.main())
