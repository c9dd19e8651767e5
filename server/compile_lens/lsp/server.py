"""Assembles the server from its features."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from compile_lens.documents.documents import Documents, file_key
from compile_lens.documents.line_indexes import LineIndexes
from compile_lens.lsp import commands, document_sync, signature_help
from compile_lens.lsp.assistant_tools import ASSISTANT_TOOL, AssistantTools
from compile_lens.lsp.code_actions import CodeActions
from compile_lens.lsp.compiler_stages.feature import Stages
from compile_lens.lsp.completion import Completions
from compile_lens.lsp.configuration import Configuration
from compile_lens.lsp.consent_question import ConsentQuestion
from compile_lens.lsp.details import DETAILS, Details
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.entries import Entries
from compile_lens.lsp.finding_reports import FindingReports
from compile_lens.lsp.fix_all import FIX_ALL, FixAll
from compile_lens.lsp.fix_checks import FixChecks
from compile_lens.lsp.fix_habits import FORGET, SHOW, TAKEN, FixHabits
from compile_lens.lsp.fixes import APPLY, Fixes
from compile_lens.lsp.followed_traces import FollowedTraces
from compile_lens.lsp.hover import Hovers
from compile_lens.lsp.inlays import Inlays
from compile_lens.lsp.knowledge_diagnostics import KnowledgeDiagnostics
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.lenses import Lenses
from compile_lens.lsp.lifetime import end_with, may_be_process, wait_for_exit
from compile_lens.lsp.navigation import Navigation
from compile_lens.lsp.notebooks import Notebooks
from compile_lens.lsp.one_graph_actions import KEEP_ONE_GRAPH, OneGraphActions
from compile_lens.lsp.pages import Pages
from compile_lens.lsp.permissions import Permissions
from compile_lens.lsp.predictions import Predictions
from compile_lens.lsp.progress import ProgressFeature
from compile_lens.lsp.region_actions import RegionActions
from compile_lens.lsp.repros import WRITE_REPRO, Repros
from compile_lens.lsp.runs import Runs
from compile_lens.lsp.sandbox_actions import SandboxActions
from compile_lens.lsp.searches import Searches
from compile_lens.lsp.sharing import Sharing
from compile_lens.lsp.status import StatusReporter
from compile_lens.lsp.traces import Traces
from compile_lens.lsp.views import Views
from compile_lens.pipeline.analyze import analyze as analyze_file
from compile_lens.pipeline.host_pool import HostPool
from compile_lens.pipeline.results import Results
from compile_lens.pipeline.scheduler import BackgroundTasks, Scheduler
from compile_lens.settings.settings import Settings
from compile_lens.state.consent import ConsentStore
from compile_lens.workers.host import Host
from compile_lens.workers.memory_shares import MemoryShares

if TYPE_CHECKING:
    from compile_lens.lsp.language_server import Analyze, AnyHost

log = logging.getLogger(__name__)


def assemble(
    server: CompileLensServer,
    make_host: Callable[[str], AnyHost] | None = None,
    analyze: Analyze | None = None,
    consent: ConsentStore | None = None,
) -> None:
    """Give ``server``, whose editor has sent `initialize`, its state and its features."""
    server.analyze = analyze or analyze_file
    server.consent = consent or ConsentStore.of_user()
    server.settings = Settings()
    server.documents = Documents()
    server.documents.encoding = server.editor.encoding
    server.notebooks = Notebooks(server.editor.encoding)
    server.sources = LineIndexes(server.documents)
    server.results = Results()
    server.scheduler = Scheduler()
    server.hosts = HostPool(make_host or functools.partial(Host, loads_packages=True, shares=MemoryShares()))
    server.background = BackgroundTasks(_log_error)
    server.code_actions = CodeActions(server.documents)
    server.on(types.TEXT_DOCUMENT_CODE_ACTION, server.code_actions.answer)
    diagnostics = Diagnostics(server)
    status = StatusReporter(server)
    facts = DocumentFactsOf(server, status)
    entries = Entries(server, facts)
    progress = ProgressFeature(server)
    permissions = Permissions(server)
    runs = Runs(server, permissions, diagnostics, progress, status, entries, facts)
    configuration = Configuration(server, runs)
    store = _offer_knowledge(server, permissions, diagnostics, progress, facts)
    predictions = Predictions(server, diagnostics, store.torch_of)
    diagnostics.without_run.append(predictions.diagnostics)
    runs.on_end(predictions.on_run_end)
    configuration.on_change(predictions.predict_all)
    pages = Pages(server)
    habits = FixHabits(server, pages)
    sharing = Sharing(server, permissions)
    checks = FixChecks(server, runs)
    fixes = Fixes(server, checks, facts, habits)
    fix_all = FixAll(server, runs, checks, facts, progress, habits, pages)
    stages = Stages(server, runs, progress)
    Hovers(server, runs, store, predictions, facts, fixes, stages.words)
    views = Views(server, runs, diagnostics, fixes, facts, predictions, stages.words)
    consent_question = ConsentQuestion(server, runs)
    server.code_actions.add(consent_question.actions)
    lenses = Lenses(server, runs, facts, consent_question, stages.words)
    Inlays(server, runs, facts)
    server.code_actions.add(entries.actions)
    server.code_actions.add(fixes.actions)
    server.code_actions.add(fix_all.actions)
    one_graph = OneGraphActions(server, runs, checks, facts, progress)
    server.code_actions.add(one_graph.actions)
    server.code_actions.add(RegionActions(server, runs).actions)
    server.code_actions.add(stages.commands.actions)
    server.code_actions.add(runs.permissions.gpu_actions)
    document_sync.register(server, runs, diagnostics, predictions, facts, status)
    searches = Searches(server, runs, progress, store, diagnostics, pages)
    diagnostics.without_run.append(searches.diagnostics)
    server.code_actions.add(searches.actions)
    repros = Repros(server, runs, progress)
    server.code_actions.add(repros.actions)
    reports = FindingReports(server, runs, progress, repros, searches, pages)
    server.code_actions.add(reports.actions)
    with_more: dict[str, commands.CommandWithArguments] = {
        WRITE_REPRO: repros.write,
        APPLY: fixes.apply,
        ASSISTANT_TOOL: AssistantTools(server, runs).answer,
        FIX_ALL: fix_all.fix,
        KEEP_ONE_GRAPH: one_graph.keep,
        TAKEN: habits.taken,
        DETAILS: Details(server, runs, facts, pages).show,
        **reports.commands(),
        **stages.commands.commands(),
    }
    sandbox = SandboxActions(server)
    server.code_actions.add(sandbox.actions)

    def show_traces() -> None:
        lenses.refresh()
        runs.show_idle()

    stages.on_change(lenses.refresh, views.refresh)
    traces = Traces(server, diagnostics, stages.store, show_traces)
    views.show_traces(traces.names)
    of_traces = {**traces.commands(), **FollowedTraces(server, traces, progress, runs.interpreter).commands()}
    of_habits: dict[str, commands.Command] = {FORGET: habits.forget, SHOW: habits.show}
    others = {**searches.commands(), **of_traces, **of_habits}
    commands.register(server, runs, progress, sandbox, others, with_more)

    configuration.on_initialize(server.initialized_with.initialization_options)
    if server.editor.pulls_diagnostics:
        diagnostics.register_pull()
    editor = server.initialized_with.process_id
    if editor is not None and may_be_process(editor):
        server.background.start(_end_with(server, editor))
        end_with(editor)

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        runs.show_idle()
        await configuration.on_initialized()
        await sharing.start()
        await stages.documents.register()
        store.of(None)  # reads the tables before the first hover

    @server.feature(types.SHUTDOWN)
    async def shutdown(_: Any) -> None:
        predictions.close()
        await server.close()


def _offer_knowledge(
    server: CompileLensServer,
    permissions: Permissions,
    diagnostics: Diagnostics,
    progress: ProgressFeature,
    facts: DocumentFactsOf,
) -> KnowledgeStore:
    """Everything about names of torch but hovers, which findings and regions share."""

    def show_again() -> None:
        paths = [snapshot.path for snapshot in server.documents.all() if snapshot.path is not None]
        diagnostics.show({file_key(path) for path in paths})

    store = KnowledgeStore(server, permissions.of, progress, show_again)
    unknown_names = KnowledgeDiagnostics(
        server, store, facts, lambda snapshot: diagnostics.show({file_key(snapshot.path or "")})
    )
    diagnostics.without_run.append(unknown_names.of)
    server.code_actions.add(unknown_names.actions)
    Completions(server, store, facts)
    Navigation(server, store, facts)
    signature_help.register(server, store, facts)
    return store


async def _end_with(server: CompileLensServer, pid: int) -> None:
    await wait_for_exit(pid)
    log.warning("The editor's process has ended.")
    server.stopped.set()


def _log_error(error: BaseException) -> None:
    log.error("A background task failed", exc_info=error)
