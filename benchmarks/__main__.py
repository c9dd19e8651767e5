"""``python -m benchmarks``: prints every figure; none of them can fail."""

from __future__ import annotations

import asyncio

from benchmarks import (
    editor_death,
    explain,
    hover,
    predictions,
    pytest_plugin,
    sandbox,
    server_start,
    stages,
    time_to_findings,
    traces,
)

if __name__ == "__main__":
    asyncio.run(time_to_findings.run())
    asyncio.run(sandbox.run())
    asyncio.run(editor_death.run())
    server_start.run()
    explain.run()
    hover.run()
    predictions.run()
    pytest_plugin.run()
    stages.run()
    traces.run()
