// What coding assistants get in VS Code: the tools of the language server, or the server for assistants where its package is installed.
// Never both, since they are the same tools.
import * as vscode from "vscode";

import { resolveLaunch, type Launch } from "./launch";
import { serverCommands } from "./protocol";
import { findPythons } from "./pythons";
import type { Server } from "./server";
import { serverCommand } from "./settings";

const provider = "compileLens";
/** Hides the language-model tools (package.json) while the server for assistants is offered. */
const offersMcp = "compileLens.offersMcp";
const prefix = "compile-lens_";

/** The part of VS Code's API that is newer than 1.100. */
interface McpServer {
  cwd?: vscode.Uri | undefined;
}

interface McpProvider {
  readonly onDidChangeMcpServerDefinitions: vscode.Event<void>;
  provideMcpServerDefinitions(): Promise<McpServer[]>;
  resolveMcpServerDefinition(definition: McpServer): Promise<McpServer>;
}

interface McpApi {
  registerMcpServerDefinitionProvider?(id: string, provider: McpProvider): vscode.Disposable;
}

type McpServerClass = new (
  label: string,
  command: string,
  args: string[],
  env: Record<string, string | number | null>,
  version?: string,
) => McpServer;

interface Tool {
  readonly name: string;
  readonly displayName: string;
}

interface Manifest {
  readonly version: string;
  readonly contributes: { readonly languageModelTools: readonly Tool[] };
}

type Input = Readonly<Record<string, unknown>>;

/** The file that a call is about, for the line that is shown while it runs. */
function subject(input: Input): string {
  const value = input["file"] ?? input["path"] ?? input["name"];
  return typeof value === "string" ? `: ${value.split(/[\\/]/).pop() ?? value}` : "";
}

function tool({ name, displayName }: Tool, server: Server): vscode.LanguageModelTool<Input> {
  return {
    prepareInvocation: ({ input }) => ({ invocationMessage: `Compile Lens: ${displayName}${subject(input)}` }),
    invoke: async ({ input }, token) => {
      const { text } = await server.assistantTool(name.slice(prefix.length), input, token);
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
    },
  };
}

/** The command that starts the server for assistants; undefined where its package is missing, or the user has a server of their own. */
async function mcpCommand(extensionPath: string): Promise<Launch | undefined> {
  if (serverCommand() || !vscode.workspace.isTrusted || !(await findPythons(extensionPath)).found?.mcp) {
    return undefined;
  }
  const launch = await resolveLaunch(extensionPath);
  return "command" in launch ? { ...launch, args: [...launch.args.slice(0, -1), "mcp"] } : undefined;
}

/** Asks for the permission that runs need, when an assistant starts the server and the user has not answered yet. */
async function askForRuns(server: Server): Promise<void> {
  if (!server.waitsForConsent) {
    return;
  }
  const allow = "Allow";
  const answer = await vscode.window.showInformationMessage(
    "May Compile Lens run Python files of this workspace for coding assistants? Sandboxed: no network, changes are discarded.",
    allow,
    "Not now",
  );
  if (answer === allow) {
    await server.execute(serverCommands.allowWorkspace);
  }
}

export class Assistants implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly registered: vscode.Disposable[] = [];

  constructor(
    private readonly extension: vscode.Extension<unknown>,
    private readonly server: Server,
  ) {
    const { contributes } = extension.packageJSON as Manifest;
    // other editors that run this extension may not have the API
    if ("lm" in vscode && "registerTool" in vscode.lm) {
      this.registered.push(...contributes.languageModelTools.map((each) => vscode.lm.registerTool(each.name, tool(each, server))));
    }
    const register = ("lm" in vscode ? (vscode.lm as McpApi) : {}).registerMcpServerDefinitionProvider;
    const definition = (vscode as { McpStdioServerDefinition?: McpServerClass }).McpStdioServerDefinition;
    if (register && definition) {
      this.registered.push(
        register(provider, {
          onDidChangeMcpServerDefinitions: this.changed.event,
          provideMcpServerDefinitions: () => this.provide(definition),
          resolveMcpServerDefinition: async (found) => {
            await askForRuns(this.server);
            return found;
          },
        }),
      );
    }
  }

  /** The interpreter or the trust has changed. */
  refresh(): void {
    this.changed.fire();
  }

  private async provide(definition: McpServerClass): Promise<McpServer[]> {
    const launch = await mcpCommand(this.extension.extensionPath);
    await vscode.commands.executeCommand("setContext", offersMcp, launch !== undefined);
    if (launch === undefined) {
      return [];
    }
    const { version } = this.extension.packageJSON as Manifest;
    const found = new definition("Compile Lens", launch.command, [...launch.args], { ...launch.env }, version);
    found.cwd = vscode.workspace.workspaceFolders?.[0]?.uri;
    return [found];
  }

  dispose(): void {
    vscode.Disposable.from(...this.registered, this.changed).dispose();
  }
}
