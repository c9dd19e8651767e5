"""An example of the documentation that uses a class which is no module shows how its methods are called with tensors."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import graph_breaks, project
from tests.entries.test_entry_runs import run

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

SYSTEMS = """\
import torch


class System:
    def __init__(self, matrix, names):
        self.matrix = matrix
        self.names = names

    @classmethod
    def of(cls, text):
        names = text.split("|")
        return cls(torch.eye(len(names) + 1), names)

    def transform(self, points):
        ones = torch.ones_like(points[..., :1])
        moved = torch.cat([points, ones], -1) @ self.matrix.T
        if moved.max() > 1e6:  # the break
            raise ValueError(f"{self.names} are too far")
        return moved[..., :-1]
"""
README = """\
# grid

```python
import torch
from grid.systems import System

system = System.of("x|y|z")
```

Then move points:

```python
for count in (10, 10, 10, 12):
    print(system.transform(torch.rand(count, 3)).shape)
```
"""


def test_methods_are_called_as_the_example_calls_them(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"pyproject.toml": "", "grid/__init__.py": "", "grid/systems.py": SYSTEMS, "README.md": README})
    outcome = run(warm_host, tmp_path / "grid/systems.py", root=tmp_path)
    assert outcome.entry == "example:README.md"
    assert next((call.making, call.inputs) for call in outcome.calls) == ("System.transform", "float32[10, 3]")
    assert graph_breaks(outcome) == [("systems.py", 17)]
    assert outcome.coverage is not None
    assert "System.transform" not in [unit.name for unit in outcome.coverage.missing]
