"""Settings and workspace trust from the editor: at the start, on request, and when they change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.runs import Runs
from compile_lens.settings.settings import SECTION, Settings, read_settings
from compile_lens.state.consent import Permission

TRUST = "compileLens/trust"


class Configuration:
    """Holds the settings of ``initializationOptions``; later ones are merged into them."""

    def __init__(self, server: CompileLensServer, runs: Runs) -> None:
        self._server = server
        self._runs = runs
        self._initial = Settings()
        self._problems: tuple[str, ...] = ()
        self._warned: set[str] = set()
        self._on_change: list[Callable[[], None]] = []
        server.on(types.WORKSPACE_DID_CHANGE_CONFIGURATION, self._changed_by_editor)
        server.on(TRUST, self._on_trust)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` when settings or trust have changed."""
        self._on_change.append(listener)

    def on_initialize(self, options: object) -> None:
        """Read ``initializationOptions``: settings and ``trusted``. Problems are shown once the editor is initialized."""
        if isinstance(options, Mapping):
            self._server.trusted = options.get("trusted") is not False
            self._server.reports_trust = isinstance(options.get("trusted"), bool)
        self._server.run_is_set = _sets_run(_section(options))
        self._initial, self._problems = read_settings(_section(options))
        self._server.settings = self._initial

    async def on_initialized(self) -> None:
        """Request the settings, and notifications of changes."""
        if self._server.editor.registers_configuration:
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            registration = types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)
            with contextlib.suppress(JsonRpcException):  # this editor announces changes anyway, or never
                await self._server.client_register_capability_async(types.RegistrationParams([registration]))
        self._warn(self._problems)
        await self._fetch()

    async def _fetch(self) -> None:
        if not self._server.editor.answers_configuration:
            return
        params = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        try:
            answer = await self._server.workspace_configuration_async(params)
        except JsonRpcException:
            return
        if answer:
            await self._use(answer[0])

    async def _changed_by_editor(self, params: types.DidChangeConfigurationParams) -> None:
        section = _section(params.settings)
        if section or not self._server.editor.answers_configuration:
            await self._use(section)
        else:
            await self._fetch()

    async def _use(self, value: object) -> None:
        settings, problems = read_settings(value, self._initial)
        self._warn(problems)
        before, self._server.settings = self._server.settings, settings
        was_set = self._server.run_is_set
        self._server.run_is_set = was_set or _sets_run(value)
        if settings == before and was_set == self._server.run_is_set:
            return
        if settings.python != before.python:
            await self._server.scheduler.close()
            await self._server.hosts.close()
        if settings.filters != before.filters:
            await self._runs.filter_again()
        self._changed(run_again=settings.of_runs != before.of_runs)

    def _changed(self, run_again: bool = True) -> None:
        self._runs.consider_all(run_again)
        for listener in self._on_change:
            listener()

    def _warn(self, problems: tuple[str, ...]) -> None:
        for problem in problems:
            if problem not in self._warned:
                self._warned.add(problem)
                self._server.warn(f"Compile Lens: {problem}")

    async def _on_trust(self, params: Any) -> None:
        """Handle ``compileLens/trust``: the user grants or withdraws trust in the workspace."""
        trusted = getattr(params, "trusted", None) is True
        self._server.reports_trust = True
        if trusted == self._server.trusted:
            return
        self._server.trusted = trusted
        if trusted:
            # the workspace's own settings apply from now on; without them the question would name the wrong interpreter
            await self._fetch()
        else:
            await self._runs.stop(Permission.UNTRUSTED)
        self._changed()


def _section(value: object) -> object:
    """The section's own object, from whatever object the editor wraps it in."""
    for name in (SECTION, "settings"):
        if isinstance(value, Mapping) and isinstance(value.get(name), Mapping):
            value = value[name]
    return value


def _sets_run(section: object) -> bool:
    run = section.get("run") if isinstance(section, Mapping) else None
    return isinstance(run, Mapping) and run.get("enabled") is not None
