// Colors the lines of stages and of their source alike, and follows the cursor from one to the other. The server says what belongs together.
import * as vscode from "vscode";

import { linksRequest, type StageLinks } from "./protocol";
import type { Server } from "./server";
import { section } from "./settings";
import { stageCommands, stageScheme } from "./stages";

const colors = 8;
// a cursor that is held down moves 30 times a second: its first move and its last are followed
const pauseMs = 40;
// the server is asked again when typing pauses
const typingMs = 300;

type Links = StageLinks["links"];

interface Marks {
  readonly bands: StageLinks["bands"];
  readonly links: Links;
  /** The links by the document of the source. */
  readonly sources: ReadonlyMap<string, Links>;
}

export class LinkedView implements vscode.Disposable {
  private readonly known = new Map<string, Marks>();
  private readonly bands = Array.from({ length: colors }, (_, number) => band(number + 1));
  private readonly linked = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("compileLens.stageLinked"),
    overviewRulerColor: new vscode.ThemeColor("compileLens.stageLinkedBorder"),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
  });
  // a border of a decoration is drawn around each line
  private readonly top = edge("1px 0 0 0");
  private readonly bottom = edge("0 0 1px 0");
  private isPinned = false;
  private moved: NodeJS.Timeout | undefined;
  private lastMoved = 0;
  private typed: NodeJS.Timeout | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    const { registerCommand } = vscode.commands;
    this.subscriptions = [
      vscode.window.onDidChangeVisibleTextEditors(() => void this.show()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.edited(document)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.known.delete(uri.toString())),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration(`${section}.stages`)) {
          this.paint();
        }
      }),
      server.onStagesChanged(() => void this.show(true)),
      registerCommand(stageCommands.pin, () => this.pin(true)),
      registerCommand(stageCommands.unpin, () => this.pin(false)),
    ];
    void this.show();
  }

  dispose(): void {
    clearTimeout(this.moved);
    clearTimeout(this.typed);
    vscode.Disposable.from(this.linked, this.top, this.bottom, ...this.bands, ...this.subscriptions).dispose();
  }

  /** Asks for the links of the stages on the screen, those that are known only if something has changed. */
  private async show(isNew = false): Promise<void> {
    const shown = vscode.window.visibleTextEditors.map(({ document }) => document.uri).filter(({ scheme }) => scheme === stageScheme);
    await Promise.all(
      shown.map(async (uri) => {
        const name = uri.toString();
        if (isNew || !this.known.has(name)) {
          const answer = await this.server.ask(linksRequest, { textDocument: { uri: name } });
          if (answer) {
            // URIs as VS Code spells them
            const links = answer.links.map((link) => ({ ...link, uri: vscode.Uri.parse(link.uri).toString() }));
            this.known.set(name, { bands: answer.bands, links, sources: bySource(links) });
          }
        }
      }),
    );
    this.paint();
    const editor = vscode.window.activeTextEditor;
    if (editor) {
      this.follow(editor);
    }
  }

  private edited(document: vscode.TextDocument): void {
    if ([...this.known.values()].some(({ sources }) => sources.has(document.uri.toString()))) {
      clearTimeout(this.typed);
      this.typed = setTimeout(() => void this.show(true), typingMs);
    }
  }

  private pin(isPinned: boolean): void {
    this.isPinned = isPinned;
    void vscode.commands.executeCommand("setContext", "compileLens.stagePinned", isPinned);
    const editor = vscode.window.activeTextEditor;
    if (editor && !isPinned) {
      this.follow(editor);
    }
  }

  /** Gives each line the color of what it belongs to. A source has colors while a stage of it is on the screen. */
  private paint(): void {
    const isColored = vscode.workspace.getConfiguration(section).get<boolean>("stages.colors") ?? true;
    const editors = vscode.window.visibleTextEditors;
    const stages = editors.flatMap(({ document }) => this.known.get(document.uri.toString()) ?? []);
    for (const editor of editors) {
      const uri = editor.document.uri.toString();
      const ranges: vscode.Range[][] = this.bands.map(() => []);
      // a diff has colors of its own
      const isCompared = editor.document.uri.query !== "";
      for (const { first, last, color } of isColored && !isCompared ? (this.known.get(uri)?.bands ?? []) : []) {
        ranges[color]?.push(lines(first, last));
      }
      for (const { line, endLine, color } of isColored ? stages.flatMap(({ sources }) => sources.get(uri) ?? []) : []) {
        ranges[color]?.push(lines(line, endLine));
      }
      this.bands.forEach((type, color) => editor.setDecorations(type, ranges[color] ?? []));
      if (stages.length === 0) {
        [this.linked, this.top, this.bottom].forEach((type) => editor.setDecorations(type, []));
      }
    }
  }

  private follow(editor: vscode.TextEditor): void {
    const isOn = vscode.workspace.getConfiguration(section).get<boolean>("stages.follow") ?? true;
    if (!this.isPinned && isOn && this.known.size > 0) {
      clearTimeout(this.moved);
      const now = Date.now();
      if (now - this.lastMoved >= pauseMs) {
        this.link(editor);
      } else {
        this.moved = setTimeout(() => this.link(editor), pauseMs);
      }
      this.lastMoved = now;
    }
  }

  /** Marks what belongs to the line of the cursor, and scrolls the other editors there. */
  private link(from: vscode.TextEditor): void {
    const { line } = from.selection.active;
    const uri = from.document.uri.toString();
    const own = this.known.get(uri);
    for (const editor of vscode.window.visibleTextEditors) {
      const name = editor.document.uri.toString();
      const links = own
        ? own.links.filter(({ ranges }) => ranges.some(([first, last]) => first <= line && line <= last))
        : (this.known.get(name)?.sources.get(uri) ?? []).filter((link) => link.line <= line && line <= link.endLine);
      const isSource = own !== undefined && editor !== from;
      const ranges = links.flatMap((link) =>
        isSource ? (link.uri === name ? [lines(link.line, link.endLine)] : []) : link.ranges.map(([first, last]) => lines(first, last)),
      );
      // where all of it is meant, as in a document of one kernel, there is nothing to find
      editor.setDecorations(this.linked, ranges.filter((range) => !isWhole(range, editor.document)));
      editor.setDecorations(this.top, ranges.map(({ start }) => lines(start.line, start.line)));
      editor.setDecorations(this.bottom, ranges.map(({ end }) => lines(end.line, end.line)));
      const [first] = ranges;
      if (editor !== from && first && !ranges.some((range) => editor.visibleRanges.some((shown) => shown.contains(range.start)))) {
        editor.revealRange(first, vscode.TextEditorRevealType.InCenter);
      }
    }
  }
}

function band(number: number): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(`compileLens.stage${number}Background`),
    borderColor: new vscode.ThemeColor(`compileLens.stage${number}`),
    borderStyle: "solid",
    borderWidth: "0 0 0 3px",
    overviewRulerColor: new vscode.ThemeColor(`compileLens.stage${number}`),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
}

function edge(borderWidth: string): vscode.TextEditorDecorationType {
  const borderColor = new vscode.ThemeColor("compileLens.stageLinkedBorder");
  return vscode.window.createTextEditorDecorationType({ isWholeLine: true, borderColor, borderStyle: "solid", borderWidth });
}

function lines(first: number, last: number): vscode.Range {
  return new vscode.Range(first, 0, last, 0);
}

/** Whether a range of lines is all of a document, but for the empty line at its end. */
function isWhole({ start, end }: vscode.Range, document: vscode.TextDocument): boolean {
  return start.line === 0 && end.line >= document.lineCount - 2;
}

function bySource(links: Links): Map<string, Links[number][]> {
  const found = new Map<string, Links[number][]>();
  for (const link of links) {
    const known = found.get(link.uri);
    if (known) {
      known.push(link);
    } else {
      found.set(link.uri, [link]);
    }
  }
  return found;
}
