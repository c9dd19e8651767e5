// The tree of findings: shows the nodes of `compileLens/tree`, in the order that the user chooses.
import * as vscode from "vscode";
import type { Range } from "vscode-languageclient/node";
import type { Server } from "./server";
import type { Node } from "./viewed";

export const findingsView = "compileLens.findings";
export const treeCommands = {
  goTo: "compileLens.goToFinding",
  fix: "compileLens.fixFinding",
  ignore: "compileLens.ignoreFinding",
  repro: "compileLens.writeReproOfFinding",
  run: "compileLens.analyzeFileAgain",
  details: "compileLens.showDetailsOfRegion",
  sort: "compileLens.sortFindings",
} as const;

const severities = ["error", "warning", "information", "hint"];
const looks: Record<NonNullable<Node["severity"]>, vscode.ThemeIcon> = {
  error: new vscode.ThemeIcon("error", new vscode.ThemeColor("problemsErrorIcon.foreground")),
  warning: new vscode.ThemeIcon("warning", new vscode.ThemeColor("problemsWarningIcon.foreground")),
  information: new vscode.ThemeIcon("info", new vscode.ThemeColor("problemsInfoIcon.foreground")),
  hint: new vscode.ThemeIcon("lightbulb"),
};
const icons: Record<Node["kind"], vscode.ThemeIcon> = {
  file: vscode.ThemeIcon.File,
  region: new vscode.ThemeIcon("symbol-function"),
  graphs: new vscode.ThemeIcon("type-hierarchy"),
  finding: new vscode.ThemeIcon("circle-outline"),
  runs: new vscode.ThemeIcon("history"),
  run: new vscode.ThemeIcon("circle-outline"),
  change: new vscode.ThemeIcon("diff"),
  stages: new vscode.ThemeIcon("layers"),
  trace: new vscode.ThemeIcon("file-code"),
  traced: new vscode.ThemeIcon("circle-outline"),
};

type Order = "position" | "severity" | "cost";
/** How findings are compared; a finding comes after the graphs, and before the runs. */
const orders: Record<Order, (one: Node, other: Node) => number> = {
  position: (one, other) => (one.range?.start.line ?? 0) - (other.range?.start.line ?? 0),
  severity: (one, other) => severities.indexOf(one.severity ?? "") - severities.indexOf(other.severity ?? ""),
  cost: (one, other) => (other.weight ?? 0) - (one.weight ?? 0),
};

export class FindingsTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private files: readonly Node[] = [];
  private order: Order = "position";
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Node>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(server: Server) {
    this.view = vscode.window.createTreeView(findingsView, { treeDataProvider: this, showCollapseAll: true });
    const { registerCommand } = vscode.commands;
    const runs = (name: "run" | "details" | "ignore" | "repro") => async (node: Node | undefined): Promise<void> => {
      const command = node?.commands?.[name];
      if (command) {
        await vscode.commands.executeCommand(command.command, ...command.arguments);
      }
    };
    this.subscriptions = [
      server.onTree((files) => this.show(files)),
      registerCommand(treeCommands.goTo, goTo),
      registerCommand(treeCommands.fix, fix),
      registerCommand(treeCommands.ignore, runs("ignore")),
      registerCommand(treeCommands.repro, runs("repro")),
      registerCommand(treeCommands.run, runs("run")),
      registerCommand(treeCommands.details, runs("details")),
      registerCommand(treeCommands.sort, () => this.chooseOrder()),
    ];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const isOpen = node.kind === "file" || node.kind === "region" || node.kind === "trace";
    const { None, Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(node.label, node.children === undefined ? None : isOpen ? Expanded : Collapsed);
    // one that was empty at first would stay folded
    item.id = node.children === undefined ? `${node.id}#empty` : node.id;
    item.description = node.description ?? "";
    item.tooltip = node.description === undefined ? node.label : `${node.label}\n${node.description}`;
    item.iconPath = node.severity === undefined ? icons[node.kind] : looks[node.severity];
    item.contextValue = [node.kind, ...Object.keys(node.commands ?? {})].join(" ");
    const spoken = [node.severity, node.label, node.description].filter((part) => part !== undefined);
    item.accessibilityInformation = { label: spoken.join(", ") };
    if (node.kind === "file" && node.uri !== undefined) {
      item.resourceUri = vscode.Uri.parse(node.uri);
    }
    if (node.commands?.stages) {
      item.command = { ...node.commands.stages, arguments: [...node.commands.stages.arguments] };
    } else if (node.uri !== undefined && node.range !== undefined) {
      item.command = { title: "Go to Finding", command: treeCommands.goTo, arguments: [node] };
    }
    return item;
  }

  getChildren(node?: Node): Node[] {
    const children = [...(node?.children ?? (node ? [] : this.files))];
    const findings = children.filter(({ kind }) => kind === "finding").sort(orders[this.order]);
    return children.map((child) => (child.kind === "finding" ? (findings.shift() ?? child) : child));
  }

  dispose(): void {
    vscode.Disposable.from(this.view, this.changed, ...this.subscriptions).dispose();
  }

  private show(files: readonly Node[]): void {
    this.files = files;
    const count = files.flatMap(all).filter(({ kind }) => kind === "finding").length;
    this.view.badge = count === 0 ? undefined : { value: count, tooltip: count === 1 ? "1 finding" : `${count} findings` };
    this.changed.fire();
  }

  private async chooseOrder(): Promise<void> {
    const choices: (vscode.QuickPickItem & { readonly order: Order })[] = [
      { label: "$(list-ordered) By Position", order: "position" },
      { label: "$(warning) By Severity", order: "severity" },
      { label: "$(dashboard) By Cost", order: "cost" },
    ];
    const picked = await vscode.window.showQuickPick(choices, { title: "Sort Findings" });
    if (picked) {
      this.order = picked.order;
      this.changed.fire();
    }
  }
}

/** A node and all below it. */
export function all(node: Node): Node[] {
  return [node, ...(node.children ?? []).flatMap(all)];
}

export function toRange({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

async function goTo(node: Node | undefined): Promise<void> {
  if (node?.uri !== undefined && node.range !== undefined) {
    const { start } = toRange(node.range);
    await vscode.window.showTextDocument(vscode.Uri.parse(node.uri), { selection: new vscode.Range(start, start) });
  }
}

/** Opens the list of quick fixes at a finding. */
async function fix(node: Node | undefined): Promise<void> {
  await goTo(node);
  await vscode.commands.executeCommand("editor.action.quickFix");
}
