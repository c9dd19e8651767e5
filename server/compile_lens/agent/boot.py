"""Entry of the agent: ``PYTHON /abs/path/agent/boot.py`` is the standby; ``… boot.py tables OUTPUT`` extracts what torch says
of itself, ``… boot.py environment`` prints what an analysis finds around it, and ``… boot.py step SETUP`` is one step of a search.

A script started by its path puts its own folder first on ``sys.path``; that entry is removed at once, and the other files of
this folder are loaded as a package of a private name, so that nothing of ours can shadow, or be shadowed by, the user's modules.
"""

import importlib.util
import sys
from pathlib import Path

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
    if sys.argv[1:2] == ["tables"]:
        extract = importlib.import_module(f"{PACKAGE}.tables.extract")
        sys.exit(extract.main(sys.argv[2:]))
    if sys.argv[1:2] == ["environment"]:
        sys.exit(importlib.import_module(f"{PACKAGE}.runtime.environment_report").main())
    if sys.argv[1:2] == ["step"]:
        step = importlib.import_module(f"{PACKAGE}.search.step")
        sys.exit(step.main(sys.argv[2:]))
    standby = importlib.import_module(f"{PACKAGE}.runtime.standby")
    sys.exit(standby.main())
