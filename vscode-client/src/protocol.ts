// What this client and the server exchange beyond the Language Server Protocol. It is optional: other editors work without it.
import { NotificationType, RequestType } from "vscode-languageclient/node";

import type { DetailsAnswer, Node } from "./viewed";

export interface ServerStatus {
  readonly health: "ok" | "warning" | "error";
  readonly state: "starting" | "idle" | "analyzing" | "off";
  readonly message: string;
  /** The number of findings shown, in all documents. */
  readonly findings: number;
  /** The number of findings in each open document. */
  readonly counts?: Readonly<Record<string, number>>;
  /** The document that is being analyzed, or that has a problem. */
  readonly uri?: string;
}

/** Whether a run is active or starting, so that there is something to cancel. */
export function isWorking({ state, uri }: ServerStatus): boolean {
  return state === "analyzing" || (state === "starting" && uri !== undefined);
}

export const statusNotification = new NotificationType<ServerStatus>("compileLens/status");

/** A text to show, rendered and under its title: a verdict, logs, the details of a region. */
export interface Page {
  readonly title: string;
  readonly markdown: string;
}

export const pageNotification = new NotificationType<Page>("compileLens/showPage");

/** A suggested text of a document. */
export interface Change {
  readonly uri: string;
  readonly text: string;
  readonly title: string;
  /** What the change does, and the question. */
  readonly message: string;
}

/** Asks whether the user wants a change, which is shown as a diff. */
export const changeRequest = new RequestType<Change, boolean, void>("compileLens/confirmChange");

/** All that is known, as a tree; sent when it changes (docs/editors/protocol.md). */
export const treeNotification = new NotificationType<{ readonly files: readonly Node[] }>("compileLens/tree");

export interface DetailsParams {
  readonly textDocument: { readonly uri: string };
  readonly position: { readonly line: number; readonly character: number };
}

/** What there is to say about a position. */
export const detailsRequest = new RequestType<DetailsParams, DetailsAnswer | null, void>("compileLens/detailsAt");

/** Lines (from 0) of a stage that were made of the same lines of a document. */
interface StageLink {
  readonly uri: string;
  readonly line: number;
  readonly endLine: number;
  readonly ranges: readonly (readonly [number, number])[];
  readonly color: number;
}

/** How a stage and the source belong together. `bands` give each line of the stage one color. */
export interface StageLinks {
  readonly title: string;
  readonly stale: boolean;
  readonly bands: readonly { readonly first: number; readonly last: number; readonly color: number }[];
  readonly links: readonly StageLink[];
}

export const linksRequest = new RequestType<{ readonly textDocument: { readonly uri: string } }, StageLinks | null, void>("compileLens/stageLinks");

/** Stages are new, renewed or gone, or their source has moved. */
export const stagesNotification = new NotificationType<{ readonly uris: readonly string[] }>("compileLens/stagesChanged");

/** What runs the user's files: the interpreter, and its torch if it has one. */
export interface Environment {
  readonly python: string;
  readonly torch?: string;
}

export const environmentNotification = new NotificationType<Environment>("compileLens/environment");

/** Whether the question for background runs waits for an answer. */
export const consentNotification = new NotificationType<{ readonly waiting: boolean }>("compileLens/consent");

export const trustNotification = new NotificationType<{ readonly trusted: boolean }>("compileLens/trust");

/**
 * Commands that the server advertises. The language client registers each of them in VS Code under the same id, so that
 * lenses and actions work. The palette's commands (package.json) therefore need ids of their own.
 */
export const serverCommands = {
  analyze: "compileLens.analyze",
  compare: "compileLens.compare",
  vary: "compileLens.vary",
  allowNetwork: "compileLens.allowNetwork",
  analyzeWithoutSandbox: "compileLens.analyzeWithoutSandbox",
  keepWrites: "compileLens.keepWrites",
  cancel: "compileLens.cancel",
  allowWorkspace: "compileLens.allowWorkspace",
  useGpu: "compileLens.useGpu",
  leaveGpu: "compileLens.leaveGpu",
  revokeWorkspace: "compileLens.revokeWorkspace",
  allowedWorkspaces: "compileLens.allowedWorkspaces",
  explainRuns: "compileLens.explainRuns",
  chooseEntry: "compileLens.chooseEntry",
  entries: "compileLens.entries",
  doctor: "compileLens.doctor",
  bisect: "compileLens.bisect",
  verifyBisection: "compileLens.verifyBisection",
  minify: "compileLens.minify",
  logs: "compileLens.logs",
  writeRepro: "compileLens.writeRepro",
  bisectFinding: "compileLens.bisectFinding",
  minifyFinding: "compileLens.minifyFinding",
  writeUnitTest: "compileLens.writeUnitTest",
  writeIssue: "compileLens.writeIssue",
  applyFix: "compileLens.applyFix",
  fixAll: "compileLens.fixAll",
  keepOneGraph: "compileLens.keepOneGraph",
  assistantTool: "compileLens.assistantTool",
  fixTaken: "compileLens.fixTaken",
  fixChoices: "compileLens.fixChoices",
  forgetFixChoices: "compileLens.forgetFixChoices",
  showDetails: "compileLens.showDetails",
  openTrace: "compileLens.openTrace",
  closeTraces: "compileLens.closeTraces",
  stages: "compileLens.stages",
  openStages: "compileLens.openStages",
  showStage: "compileLens.showStage",
  stagesPage: "compileLens.stagesPage",
  stageSource: "compileLens.stageSource",
  compareStages: "compileLens.compareStages",
  followTraces: "compileLens.followTraces",
  stopFollowingTraces: "compileLens.stopFollowingTraces",
  runAndFollow: "compileLens.runAndFollow",
} as const;

/** What a tool of an assistant answers; `refused` if the text says why it does not. */
export interface ToolAnswer {
  readonly text: string;
  readonly refused: boolean;
}

export type ServerCommand = (typeof serverCommands)[keyof typeof serverCommands];

/** Whatever can run a command of the server. */
export interface CommandRunner {
  execute<Answer>(command: ServerCommand, ...args: (string | undefined)[]): Promise<Answer | undefined>;
}
