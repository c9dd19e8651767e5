"""An assistant for tests: the official client, connected to a real server over standard input and output, used without ``async``."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import jsonschema
from tests.processes import Mark

from compile_lens.state.consent import ConsentStore

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")
PATIENCE_S = 120.0


class Assistant:
    """One connection. ``allowed`` are workspaces that the user has allowed; ``progress`` is what the last call was told."""

    def __init__(self, state: Path, allowed: Path | None) -> None:
        self.mark = Mark()
        self.progress: list[str] = []
        self._environment = {**self.mark.environment, "XDG_STATE_HOME": str(state)}
        if allowed is not None:
            ConsentStore(state / "compile-lens" / "consent").allow(allowed)
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._connected = threading.Event()
        self._client: Client | None = None
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._live(),), daemon=True)

    def __enter__(self) -> Assistant:
        self._thread.start()
        assert self._connected.wait(PATIENCE_S)
        listed = self.wait(self.client.list_tools()).tools
        self.tools = {tool.name: tool for tool in listed}
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(PATIENCE_S)
        assert self.mark.none_left()

    async def _live(self) -> None:
        # takes a second of a core in each worker that collects the tests
        from mcp import Client, StdioServerParameters, stdio_client

        server = StdioServerParameters(
            command=sys.executable, args=["-m", "compile_lens", "mcp"], env=self._environment
        )
        async with Client(stdio_client(server)) as client:
            self._client = client
            self._connected.set()
            await self._ended.wait()

    @property
    def client(self) -> Client:
        """The official client."""
        assert self._client is not None
        return self._client

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """What ``work`` returns, in the loop of the connection."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def called(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The result of a call, as the client gets it."""
        self.progress = []

        async def on_progress(step: float, total: float | None, words: str | None) -> None:
            self.progress.append(words or "")

        return await self.client.call_tool(tool, arguments, progress_callback=on_progress)

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer, which is as the tool's schema says."""
        result = self.wait(self.called(tool, arguments))
        assert not result.is_error, result.content[0].text
        answer: dict[str, Any] = result.structured_content
        jsonschema.validate(answer, self.tools[tool].output_schema)
        return answer

    def refused(self, tool: str, **arguments: Any) -> str:
        """The sentence with which a call is refused."""
        result = self.wait(self.called(tool, arguments))
        assert result.is_error
        text: str = result.content[0].text
        return text
