"""Libraries that lack what is imported of them, or fail to import, and modules of the project that fail: the rest of it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.entries.test_entry_runs import codes, run, write

from compile_lens.analysis.run_errors import CODE
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

# a process of its own: pytest's frames handle any error, and would be taken for the program's
IN_PROCESS = """\
import json
import sys
from types import SimpleNamespace
from compile_lens.agent.inputs.importing import failed_imports
from compile_lens.agent.inputs.importing import missing_imports
from compile_lens.agent.inputs.importing import project_modules

folder = sys.argv[1]
roots = (folder + "/site/",)
failed_imports.library_roots = missing_imports.library_roots = lambda: roots
sys.path[:0] = [folder + "/site", folder + "/project"]
told, stubs = [], []
wire = SimpleNamespace(tell=lambda event: stubs.append([event.module, event.why]))
project_modules.install(folder + "/project/main.py", wire, lambda error, how: told.append([str(error), how]))
import uses
kinds = {name: type(value).__name__ for name, value in vars(uses).items() if not name.startswith("_")}
print(json.dumps({"told": told, "stubs": stubs, "kinds": kinds}))
"""


def imported(tmp_path: Path, files: dict[str, str]) -> dict[str, Any]:
    """What becomes of the module `uses`: what is told, what is replaced, and the types of its names."""
    for name, text in files.items():
        write(tmp_path, text, name)
    write(tmp_path, "", "project/pyproject.toml")
    done = subprocess.run(
        [sys.executable, "-c", IN_PROCESS, str(tmp_path)], capture_output=True, text=True, check=True, timeout=100
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


LIBRARY = {
    "site/library/__init__.py": "here = 1\n",
    "site/library/shared.py": "raise OSError('liblibrary.so.0: cannot open shared object file')\n",
    "site/broken.py": "raise OSError('libbroken.so.0: cannot open shared object file')\n",
    "site/older/__init__.py": "from library import Gone\n",
}


def test_parts_and_whole_libraries_are_replaced_where_they_are_imported(tmp_path: Path) -> None:
    uses = """\
from library import here, Gone
from library.gone import Another as other
import library.gone
import broken
import broken.sub as sub
from older import helper
from library.shared import Value
handler = library.gone.Handler

class Net(library.gone.Base):
    pass

try:
    from library import Gone as fallback
except ImportError:
    fallback = None
try:
    import broken as absent
except OSError:
    absent = None
"""
    found = imported(tmp_path, {**LIBRARY, "project/uses.py": uses})
    assert found["kinds"] == {
        "here": "int",
        "Gone": "PartStub",
        "other": "PartStub",
        "library": "module",
        "broken": "StubModule",
        "sub": "StubModule",
        "helper": "Stub",
        "Value": "Stub",
        "handler": "PartStub",
        "Net": "type",
        "fallback": "NoneType",
        "absent": "NoneType",
    }
    replaced = dict(found["stubs"])
    assert list(replaced) == ["library.Gone", "library.gone", "broken", "older", "library.shared"]
    assert replaced["broken"] == "OSError: libbroken.so.0: cannot open shared object file"
    assert "cannot import name 'Gone' from 'library'" in replaced["older"]
    assert {how for _, how in found["told"]} == {"mended"}


def test_modules_of_the_project_run_past_what_fails(tmp_path: Path) -> None:
    files = {
        "project/data.py": "table = open('/nowhere/table.csv').read()\nsize = len(table)\nwidth = 8\n",
        "project/pkg/__init__.py": "from .one import *\nfrom .two import lost, kept\n",
        "project/pkg/one.py": "from library import Gone\nx: Undefined = 1\n__all__ = ['x']\n",
        "project/pkg/two.py": "if True:\n    raise RuntimeError('no cluster')\n    lost = 1\nkept = 2\n",
        "project/old.py": "print 'x'\n",
        "project/twice.py": "from data import width\nfrom old import width\n",
        "project/optional.py": "raise RuntimeError('not on this machine')\nvalue = 1\n",
    }
    uses = """\
from data import table, size, width
from pkg import x, lost, kept
from old import nothing
from twice import width as again
try:
    import optional
except RuntimeError:
    optional = None
"""
    found = imported(tmp_path, {**LIBRARY, **files, "project/uses.py": uses})
    kinds = found["kinds"]
    assert {name for name, kind in kinds.items() if kind == "Absent"} == {"table", "size", "lost", "nothing"}
    assert kinds["again"] == "int"
    assert (kinds["width"], kinds["x"], kinds["kept"], kinds["optional"]) == ("int", "int", "int", "NoneType")
    told = [error for error, _ in found["told"]]
    assert "No such file" in told[0]
    assert "cannot import name 'Gone'" in told[1]
    assert "'Undefined' is not defined" in told[2]
    assert told[3] == "no cluster"
    # what follows from a failure is not told, nor what the program expects; a file that is no Python fails each time
    assert ["Missing parentheses" in error for error in told[4:]] == [True, True]


def test_names_of_a_module_that_is_not_there_are_found_when_they_are_used(tmp_path: Path) -> None:
    files = {
        "project/names.py": "from broken import *\n",
        "project/failing.py": "value = undefined()\n__all__ = ['other']\n",
    }
    uses = """\
from names import *
from failing import *

@overload(int)
def double(x):
    return x * 2

class Net(Base):
    kind = Kind.first

size = elsewhere
"""
    found = imported(tmp_path, {**LIBRARY, **files, "project/uses.py": uses})
    kinds = found["kinds"]
    assert (kinds["double"], kinds["Net"], kinds["Kind"]) == ("function", "type", "Stub")
    assert [how for _, how in found["told"]] == ["mended", "import"]
    assert "libbroken.so.0" in found["told"][0][0]


NET = """\
import torch
from torch import nn
from torch._gone import inf, string_classes
from asyncio.windows_events import ProactorEventLoop
from . import WIDTH
from .data import table

log = torch.gone_logger


@log.register("net")
class Net(nn.Module):
    def __init__(self, kind: nn.Gone = nn.gone, width: "int" = WIDTH):
        super().__init__()
        self.fc = nn.Linear(width, 4)

    def forward(self, x: Undefined):
        log.debug("called")
        y = self.fc(x)
        return y * 2 if y.sum() > 0 else y
"""
PACKAGE = {
    "proj/pyproject.toml": "",
    "proj/pkg/__init__.py": "from .data import WIDTH\nfrom .missing import nothing\n",
    "proj/pkg/data.py": "table = open('/nowhere/table.csv').read()\nWIDTH = 8\n",
    "proj/pkg/missing.py": "nothing = undefined_name\n",
}


def test_the_model_of_a_file_whose_libraries_and_modules_fail(tmp_path: Path, warm_host: WarmHost) -> None:
    for name, text in PACKAGE.items():
        write(tmp_path, text, name)
    outcome = run(warm_host, write(tmp_path, NET, "proj/pkg/net.py"))
    assert [call.target for call in outcome.calls] == ["Net"]
    assert ("GB0170", 20) in codes(outcome)
    # the program itself comes no further than the first
    (first,) = [each for each in outcome.findings if each.code in ("missing-data", CODE)]
    assert (Path(first.place.file).name, first.place.line) == ("data.py", 1)
    notes = "\n".join(outcome.notes)
    assert "`torch._gone` cannot be imported here (ModuleNotFoundError: No module named 'torch._gone')" in notes
    assert "`asyncio.windows_events` cannot be imported here (ImportError: win32 only)" in notes
    assert "`torch.gone_logger` cannot be imported here" in notes


SCRIPT = """\
import torch
from torch._gone import inf
from pkg import WIDTH, nothing
import torch.nothing_here


def build():
    from torch import nothing_more, nn

    nothing_more.log("x")
    return nn.Linear(WIDTH, 4)


class Net(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.fc = layer

    def forward(self, x):
        y = self.fc(x)
        return y * 2 if y.sum() > 0 else y


@torch.nothing_here.main(config="x")
def main(rate: torch.Gone = 0.1):
    net = Net(build())
    for _ in range(nothing):
        print(net)
    print(net(torch.ones(2, WIDTH)))


main()
"""


def test_the_model_of_such_a_script(tmp_path: Path, warm_host: WarmHost) -> None:
    for name, text in PACKAGE.items():
        write(tmp_path, text, name)
    outcome = run(warm_host, write(tmp_path, SCRIPT, "proj/train.py"))
    assert outcome.entry == "model"
    assert ("GB0170", 21) in codes(outcome)
    (error,) = [each for each in outcome.findings if each.code == CODE]
    assert error.place.line == 2
    assert error.explanation == "The rest ran without what failed here. What needs it raises this error."
    notes = "\n".join(outcome.notes)
    for name in ("torch._gone", "torch.nothing_more", "torch.nothing_here"):
        assert f"`{name}` cannot be imported here" in notes
