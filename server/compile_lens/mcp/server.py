"""Serves the tools, pages and prompts for assistants over standard input and output, with the official SDK.

It converts, calls and converts back: what the tools do is in ``assistants/``.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from compile_lens import __version__
from compile_lens.assistants.bench import Bench
from compile_lens.assistants.fitting import written
from compile_lens.assistants.ground import OwnGround
from compile_lens.assistants.guides import GUIDES, page_text, pages
from compile_lens.assistants.quoting import refusal_text
from compile_lens.assistants.tools import BY_NAME, INSTRUCTIONS, REFUSALS, TOOLS, answer
from compile_lens.mcp.half_characters import WholeMessages
from compile_lens.workers.cache_limit import DEFAULT_LIMIT_BYTES, limit
from compile_lens.workers.caches import cache_root

Context = ServerRequestContext[Any]
MARKDOWN = "text/markdown"
# the end of a run takes this long at most (workers/host.py)
END_S = 15.0


class _Progress:
    """Sends what a tool tells as progress, in order, without making the tool wait."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._words: asyncio.Queue[str] = asyncio.Queue()

    def tell(self, words: str) -> None:
        self._words.put_nowait(words)

    async def send(self) -> None:
        step = 0
        while True:
            words = await self._words.get()
            step += 1
            await self._context.session.report_progress(step, None, words)


def make_server(bench: Bench) -> Server[Any]:
    """A server that is not connected yet."""

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    title=tool.title,
                    description=tool.description,
                    input_schema=tool.input_schema,
                    output_schema=tool.output_schema,
                    # a run in the sandbox changes nothing outside of it
                    annotations=types.ToolAnnotations(
                        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
                    ),
                )
                for tool in TOOLS
            ]
        )

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in BY_NAME:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:40]!r}.")
        progress = _Progress(context)
        sender = asyncio.create_task(progress.send())
        try:
            found = await _in_own_task(answer(bench, params.name, params.arguments or {}, progress.tell))
        except REFUSALS as refusal:
            return types.CallToolResult(content=[types.TextContent(text=refusal_text(refusal))], is_error=True)
        finally:
            sender.cancel()
        return types.CallToolResult(content=[types.TextContent(text=written(found))], structured_content=found)

    async def list_pages(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=page.uri, name=page.name, title=page.title, mime_type=MARKDOWN) for page in pages()
            ]
        )

    async def read_page(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text = await asyncio.to_thread(page_text, params.uri)
        if text is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no page {params.uri[:80]!r}.")
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, mime_type=MARKDOWN, text=text)]
        )

    async def list_prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=guide.name,
                    title=guide.title,
                    description=guide.description,
                    arguments=[
                        types.PromptArgument(name=name, description=what, required=number == 0)
                        for number, (name, what) in enumerate(guide.arguments.items())
                    ],
                )
                for guide in GUIDES
            ]
        )

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        guide = next((guide for guide in GUIDES if guide.name == params.name), None)
        if guide is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name[:40]!r}.")
        text = types.TextContent(text=guide.text(params.arguments or {}))
        return types.GetPromptResult(
            description=guide.description, messages=[types.PromptMessage(role="user", content=text)]
        )

    return Server(
        "compile-lens",
        version=__version__,
        title="Compile Lens",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_pages,
        on_read_resource=read_page,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


async def _in_own_task(work: Any) -> Any:
    """Await ``work`` so that a canceled request cancels it once, and waits until what it ran has ended.

    The SDK cancels by a scope, which would interrupt each await of the cleanup, too.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task], timeout=END_S)
        raise


async def _serve(python: str | None) -> None:
    ground = OwnGround(python)
    server = make_server(Bench(ground))
    try:
        async with stdio_server() as (read, write):
            await server.run(WholeMessages(read, write), write, server.create_initialization_options())
    finally:
        with anyio.CancelScope(shield=True):
            await ground.close()
            await asyncio.to_thread(limit, cache_root(os.environ), DEFAULT_LIMIT_BYTES)


def serve(python: str | None = None) -> int:
    """Serve until the client closes the connection; the exit code."""
    asyncio.run(_serve(python))
    return 0
