// Activates the extension and connects its parts. The server does the analysis.
import * as vscode from "vscode";

import { Assistants } from "./assistants";
import { registerChanges } from "./changes";
import { registerCommands, setupActions } from "./commands";
import { StageComparisons } from "./compareStages";
import { DetailsPanel } from "./details";
import { registerExamples } from "./examples";
import { onInterpreterChange } from "./interpreter";
import { LanguageStatus } from "./languageStatus";
import { LinkedView } from "./linkedView";
import { OverviewMarks } from "./overview";
import { Pages } from "./pages";
import { registerSearches } from "./searches";
import { Server } from "./server";
import { section } from "./settings";
import { offerSetup, type SetupActions } from "./setup";
import { registerStages } from "./stages";
import { StatusItem } from "./status";
import { FindingsTree } from "./tree";
import { followTrust } from "./trust";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Compile Lens", { log: true });
  const started = new Server(context.extensionPath, log);
  server = started;
  const pages = new Pages();
  const setup = setupActions(started, pages, context.extension);

  const assistants = new Assistants(context.extension, started);
  const followInterpreter = async (): Promise<void> => {
    const changed = (): void => {
      void started.settingsChanged();
      assistants.refresh();
    };
    context.subscriptions.push(await onInterpreterChange(changed));
    assistants.refresh();
  };
  context.subscriptions.push(
    log,
    started,
    new StatusItem(started),
    new LanguageStatus(started),
    new FindingsTree(started),
    new DetailsPanel(context.extensionUri, started),
    new OverviewMarks(started),
    new LinkedView(started),
    registerStages(started, context.workspaceState),
    new StageComparisons(started),
    registerCommands(started, log, setup),
    registerChanges(),
    assistants,
    offerSetupOnce(started, setup),
    registerSearches(started),
    registerExamples(context.extensionUri),
    pages,
    started.onPage(({ title, markdown }) => void pages.show(title, markdown)),
    followTrust(started),
    vscode.workspace.onDidGrantWorkspaceTrust(followInterpreter),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration(section)) {
        await started.settingsChanged();
      }
    }),
  );
  void followInterpreter();
  void started.restart();
}

/** The first start without a usable Python asks what to do; after that, the status bar item says so. */
function offerSetupOnce(server: Server, setup: SetupActions): vscode.Disposable {
  const subscription = server.onMissingPython((reason) => {
    subscription.dispose();
    void offerSetup(reason, setup);
  });
  return subscription;
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
