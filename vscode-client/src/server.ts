// Starts, restarts and stops the language server, and handles its crashes. status.ts shows its state.
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  ExecuteCommandRequest,
  RevealOutputChannelOn,
  State,
  type ErrorHandler,
  type LanguageClientOptions,
  type RequestType,
  type ShowDocumentResult,
} from "vscode-languageclient/node";

import { confirmChange } from "./changes";
import { documentSelector } from "./documents";
import { chooseEntry } from "./entries";
import { explainFailure, explainMissingPython, resolveLaunch } from "./launch";
import {
  changeRequest,
  consentNotification,
  environmentNotification,
  pageNotification,
  serverCommands,
  stagesNotification,
  statusNotification,
  treeNotification,
  trustNotification,
  type CommandRunner,
  type Environment,
  type Page,
  type ServerCommand,
  type ServerStatus,
  type ToolAnswer,
} from "./protocol";
import type { Search } from "./pythons";
import { chooseReproPlace, openRepro, type WrittenRepro } from "./repros";
import { logLines, ownCapabilities, QuietClient } from "./quietClient";
import { section, serverSettings, startSettings } from "./settings";
import { openStages, showStage } from "./stages";
import type { Node } from "./viewed";

const maxCrashes = 4;
const crashWindowMs = 3 * 60_000;

export class Server implements vscode.Disposable, CommandRunner {
  private client: QuietClient | undefined;
  private queue: Promise<void> = Promise.resolve();
  private crashes: number[] = [];
  /** The settings that the last start read. */
  private startedBy: string | undefined;
  private runsFilesWith: Environment | undefined;
  private asksForConsent = false;
  private readonly missingPython = new vscode.EventEmitter<string>();
  /** Fires with the reason when a start finds no Python that can run the server. */
  readonly onMissingPython = this.missingPython.event;
  private lastStatus: ServerStatus = { health: "ok", state: "starting", message: "", findings: 0 };
  private readonly statusEmitter = new vscode.EventEmitter<void>();
  readonly onStatus = this.statusEmitter.event;
  private readonly pageEmitter = new vscode.EventEmitter<Page>();
  /** The server has a text to show. */
  readonly onPage = this.pageEmitter.event;
  private readonly treeEmitter = new vscode.EventEmitter<readonly Node[]>();
  /** What is known has changed. */
  readonly onTree = this.treeEmitter.event;

  private readonly stagesEmitter = new vscode.EventEmitter<void>();
  /** The stages that are known have changed. */
  readonly onStagesChanged = this.stagesEmitter.event;

  constructor(
    private readonly extensionPath: string,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  get status(): ServerStatus {
    return this.lastStatus;
  }

  /** The interpreter of the file that was opened last, once the server has found it. */
  get environment(): Environment | undefined {
    return this.runsFilesWith;
  }

  /** Whether the user has not answered yet if files may run in the background. */
  get waitsForConsent(): boolean {
    return this.asksForConsent;
  }

  get running(): boolean {
    return this.client?.state === State.Running;
  }

  /** Starts the server, or restarts it with the current settings. */
  restart(): Promise<void> {
    this.crashes = [];
    return this.enqueue(async () => {
      await this.stopClient();
      await this.startClient();
    });
  }

  stop(): Promise<void> {
    return this.enqueue(() => this.stopClient());
  }

  /** Runs a command of the server. Undefined if the server does not answer. */
  async execute<Answer>(
    command: ServerCommand,
    ...args: (string | undefined)[]
  ): Promise<Answer | undefined> {
    try {
      if (this.client && this.running) {
        return (await this.client.sendRequest(ExecuteCommandRequest.type, { command, arguments: args })) as Answer;
      }
    } catch (error) {
      // The server shows the user what can be done; a missing answer only goes to the log.
      this.log.warn(`${command}: ${String(error)}`);
    }
    return undefined;
  }

  /** What a tool of an assistant answers to `input`. Throws if the server does not answer. */
  async assistantTool(name: string, input: object, token: vscode.CancellationToken): Promise<ToolAnswer> {
    if (!this.client || !this.running) {
      throw new Error("The language server of Compile Lens is not running. The status bar item says why.");
    }
    const params = { command: serverCommands.assistantTool, arguments: [null, name, JSON.stringify(input)] };
    return (await this.client.sendRequest(ExecuteCommandRequest.type, params, token)) as ToolAnswer;
  }

  /** The answer to a request of our own. Undefined if the server does not answer. */
  async ask<Params extends object, Answer>(request: RequestType<Params, Answer | null, void>, params: Params): Promise<Answer | undefined> {
    if (!this.client || !this.running) {
      return undefined;
    }
    try {
      return (await this.client.sendRequest<Answer | null>(request.method, params)) ?? undefined;
    } catch (error) {
      this.log.debug(`${request.method}: ${String(error)}`); // the server has just ended
      return undefined;
    }
  }

  /** Sends the settings to the server, or restarts it if they may have kept it from starting. */
  async settingsChanged(): Promise<void> {
    const client = this.client;
    if (client?.state === State.Starting) {
      return; // the server requests its settings once it runs
    }
    if (client?.state !== State.Running || startSettings() !== this.startedBy) {
      return this.restart();
    }
    await this.notify(client, "workspace/didChangeConfiguration", { settings: { [section]: await serverSettings() } });
  }

  async trustGranted(): Promise<void> {
    if (this.client?.state === State.Running) {
      await this.notify(this.client, trustNotification.method, { trusted: true });
    }
    return this.settingsChanged();
  }

  dispose(): void {
    this.statusEmitter.dispose();
    this.pageEmitter.dispose();
    this.treeEmitter.dispose();
    this.stagesEmitter.dispose();
    this.missingPython.dispose();
  }

  private async notify(client: QuietClient, method: string, params: object): Promise<void> {
    try {
      await client.sendNotification(method, params);
    } catch (error) {
      // The server has just ended; the next one gets everything at its start.
      this.log.debug(`${method}: ${String(error)}`);
    }
  }

  /** One start or stop at a time: a restart during a start waits for it. */
  private enqueue(change: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(change).catch((error: unknown) => this.log.error(String(error)));
    return this.queue;
  }

  private async startClient(): Promise<void> {
    this.reportOwn("starting", "ok", "Starting the language server");
    this.startedBy = startSettings();
    const launch = await resolveLaunch(this.extensionPath);
    if (!("command" in launch)) {
      this.reportMissingPython(launch);
      return;
    }
    this.log.info(`Starting ${[launch.command, ...launch.args].join(" ")}`);
    const options = this.clientOptions(await serverSettings());
    // Not the workspace folder: `python -m` would import modules from it. The client takes `env` as all of the server's variables.
    const env = { ...process.env, ...launch.env };
    const executable = { command: launch.command, args: [...launch.args], options: { cwd: this.extensionPath, env } };
    const client = new QuietClient(section, "Compile Lens", executable, options);
    this.client = client;
    client.registerFeature(ownCapabilities);
    client.onNotification(statusNotification, (status) => this.report(status));
    client.onNotification(pageNotification, (page) => this.pageEmitter.fire(page));
    client.onRequest(changeRequest, confirmChange);
    client.onNotification(treeNotification, ({ files }) => this.treeEmitter.fire(files));
    client.onNotification(stagesNotification, () => this.stagesEmitter.fire());
    client.onNotification(environmentNotification, (environment) => {
      this.runsFilesWith = environment;
      this.statusEmitter.fire();
    });
    client.onNotification(consentNotification, ({ waiting }) => {
      this.asksForConsent = waiting;
      this.statusEmitter.fire();
    });
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.report({ health: "ok", state: "idle", message: "Ready", findings: 0 });
      }
    });
    let reason: unknown = "it exited during startup";
    try {
      // If the server ends before it answers, this may also return without an error.
      await client.start();
    } catch (error) {
      reason = error;
    }
    if (client.state !== State.Running && client === this.client) {
      this.reportOwn("off", "error", explainFailure(launch, reason));
    }
  }

  private reportMissingPython(search: Search): void {
    for (const { python, problem } of search.tried) {
      this.log.info(`${python}: ${problem ?? "usable"}`);
    }
    const reason = explainMissingPython(search);
    this.reportOwn("off", "error", reason);
    this.missingPython.fire(reason);
  }

  private async stopClient(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.runsFilesWith = undefined;
    this.asksForConsent = false;
    this.treeEmitter.fire([]);
    try {
      await client?.dispose();
    } catch (error) {
      // A client that never started cannot be stopped.
      this.log.debug(`While stopping: ${String(error)}`);
    }
  }

  private clientOptions(settings: Record<string, unknown>): LanguageClientOptions {
    return {
      documentSelector,
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      diagnosticCollectionName: "Compile Lens",
      initializationOptions: { trusted: vscode.workspace.isTrusted, settings },
      initializationFailedHandler: () => false,
      errorHandler: this.errorHandler(),
      // hovers quote what programs say, so that only the links are followed that apply a fix which is offered, or open
      // a stage that is known
      markdown: { isTrusted: { enabledCommands: [serverCommands.applyFix, serverCommands.showStage] }, supportHtml: false },
      stdioOptions: { stdout: logLines, stderr: logLines },
      middleware: {
        // a code lens sends no entry, and an action no place for a repro: show a list
        executeCommand: async (command, args: readonly unknown[], next): Promise<unknown> => {
          const [uri, entry, place] = args;
          if (command === serverCommands.writeRepro && typeof uri === "string" && place === undefined) {
            const where = await chooseReproPlace(uri);
            if (where !== undefined) {
              await openRepro((await next(command, [uri, entry ?? null, where])) as WrittenRepro | null, where);
            }
            return undefined;
          }
          if (command === serverCommands.openStages && typeof uri === "string") {
            return openStages(this, uri);
          }
          if (command === serverCommands.showStage && typeof uri === "string") {
            return showStage(uri, Number(entry ?? 0));
          }
          const needsChoice = command === serverCommands.chooseEntry && typeof uri === "string" && entry === undefined;
          return needsChoice ? chooseEntry(this, uri) : next(command, [...args]);
        },
        window: {
          // a page of the server is read, not edited
          showDocument: async (params, token, next): Promise<ShowDocumentResult> => {
            if (params.external !== true && params.uri.endsWith(".md") && params.selection === undefined) {
              await vscode.commands.executeCommand("markdown.showPreview", vscode.Uri.parse(params.uri));
              return { success: true };
            }
            return (await next(params, token)) as ShowDocumentResult;
          },
        },
        workspace: {
          configuration: async (params, token, next) => {
            const values = await next(params, token);
            return Array.isArray(values)
              ? Promise.all(
                  params.items.map((item, index): unknown =>
                    item.section === section
                      ? serverSettings(item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri))
                      : values[index],
                  ),
                )
              : values;
          },
        },
      },
    };
  }

  private errorHandler(): ErrorHandler {
    return {
      error: (_error, _message, count) => ({
        action: (count ?? 0) <= 3 ? ErrorAction.Continue : ErrorAction.Shutdown,
        handled: true,
      }),
      closed: () => {
        if (this.client?.state !== State.Running) {
          if (this.crashes.length > 0) {
            this.reportOwn("off", "error", "The language server exited and cannot be restarted");
          }
          return { action: CloseAction.DoNotRestart, handled: true };
        }
        const now = Date.now();
        this.crashes = [...this.crashes.filter((time) => now - time < crashWindowMs), now];
        if (this.crashes.length > maxCrashes) {
          this.reportOwn("off", "error", `The language server exited ${this.crashes.length} times within 3 minutes`);
          return { action: CloseAction.DoNotRestart, handled: true };
        }
        this.reportOwn("starting", "warning", "The language server exited. Restarting it");
        return { action: CloseAction.Restart, handled: true };
      },
    };
  }

  private report(status: ServerStatus): void {
    this.lastStatus = status;
    this.statusEmitter.fire();
  }

  /** Reports a status of the client itself, while there is no server. */
  private reportOwn(state: ServerStatus["state"], health: ServerStatus["health"], message: string): void {
    this.log[health === "error" ? "error" : "info"](message);
    this.report({ state, health, message, findings: 0 });
  }
}
