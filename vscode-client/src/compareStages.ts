// Comparing the compiler's stages: choosing with what, and showing what differs in VS Code's own diff editors. The server compares.
import * as vscode from "vscode";

import { label, notice } from "./notices";
import { serverCommands, type CommandRunner } from "./protocol";
import { stageScheme } from "./stages";

/** A question about a side: one of `values`, or a text that begins as `value`. */
interface Ask {
  readonly prompt: string;
  readonly value?: string;
  readonly values?: readonly { readonly title: string; readonly value: string }[];
}

interface Choice {
  readonly title: string;
  readonly detail: string;
  readonly before: string;
  readonly after: string;
  readonly asks: readonly Ask[];
}

interface StagePair {
  readonly title: string;
  readonly what: string;
  readonly changed: boolean;
  readonly before: string;
  readonly after: string;
}

interface Comparison {
  readonly title: string;
  readonly summary: string;
  readonly changed: boolean;
  readonly graphs: readonly { readonly title: string; readonly what: string; readonly changed: boolean; readonly stages: readonly StagePair[] }[];
}

/** What was compared, so that it can be compared again. */
interface Compared {
  readonly uri: string;
  readonly sides: readonly [string, string];
  readonly found: Comparison;
}

type Shown = StagePair & { readonly graph: string };

interface Item extends vscode.QuickPickItem {
  readonly pairs?: readonly Shown[];
  readonly again?: true;
}

export class StageComparisons implements vscode.Disposable {
  private last: Compared | undefined;
  private readonly registration: vscode.Disposable;

  constructor(private readonly server: CommandRunner) {
    this.registration = vscode.commands.registerCommand("compileLens.compareCompilerStages", async (resource: unknown) => {
      const uri = resource instanceof vscode.Uri ? resource : vscode.window.activeTextEditor?.document.uri;
      if (uri) {
        await this.compare(uri);
      }
    });
  }

  dispose(): void {
    this.registration.dispose();
  }

  /** Compares the stages of a file. In a document of the last comparison, its other stages are offered. */
  private async compare(uri: vscode.Uri): Promise<void> {
    if (this.last && uri.scheme === stageScheme && uri.query !== "") {
      await this.choose(this.last);
      return;
    }
    const name = uri.toString();
    const offered = await this.server.execute<{ readonly choices: readonly Choice[] }>(serverCommands.compareStages, name);
    const items = (offered?.choices ?? []).map((choice) => ({ label: label(choice.title), description: label(choice.detail), choice }));
    const picked = await vscode.window.showQuickPick(items, { title: "Compare Compiler Stages", placeHolder: "Choose what to compare" });
    const answers = picked && (await answersTo(picked.choice.asks));
    if (picked && answers) {
      const filled = (side: string): string => answers.reduce((text, answer, index) => text.replace(`{${index}}`, answer), side);
      await this.show(name, [filled(picked.choice.before), filled(picked.choice.after)]);
    }
  }

  private async show(uri: string, sides: readonly [string, string], how?: string): Promise<void> {
    const found = await this.server.execute<Comparison | null>(serverCommands.compareStages, uri, ...sides, how);
    if (found) {
      this.last = { uri, sides, found };
      await this.choose(this.last);
    } // else canceled, or the server has said why
  }

  private async choose({ uri, sides, found }: Compared): Promise<void> {
    const picked = await vscode.window.showQuickPick(itemsOf(found), {
      title: `${found.title}: ${found.summary}`,
      placeHolder: found.changed ? "Choose a stage to see what differs" : "No stage differs",
      matchOnDescription: true,
    });
    if (picked?.again) {
      await this.show(uri, sides, "again");
    } else if (picked?.pairs) {
      await showPairs(picked.pairs, found);
    }
  }
}

async function answersTo(asks: readonly Ask[]): Promise<string[] | undefined> {
  const answers: string[] = [];
  for (const { prompt, value, values } of asks) {
    const answer = values
      ? (await vscode.window.showQuickPick(values.map((each) => ({ label: label(each.title), value: each.value })), { title: "Compare Compiler Stages", placeHolder: prompt }))?.value
      : await vscode.window.showInputBox({ title: "Compare Compiler Stages", prompt: notice(prompt), value: value ?? "" });
    if (!answer) {
      return undefined;
    }
    answers.push(answer);
  }
  return answers;
}

function itemsOf(found: Comparison): Item[] {
  const graphs = found.graphs
    .map(({ title, what, stages }) => ({ title, what, pairs: stages.filter(({ changed }) => changed).map((pair) => ({ ...pair, graph: title })) }))
    .filter(({ pairs }) => pairs.length > 0);
  const every = graphs.flatMap(({ pairs }) => pairs);
  const all: Item = { label: `$(diff-multiple) All ${every.length} stages that differ`, pairs: every };
  return [
    ...(every.length > 1 ? [all] : []),
    ...graphs.flatMap(({ title, what, pairs }): Item[] => [
      { label: label(title), kind: vscode.QuickPickItemKind.Separator },
      ...pairs.map((pair) => ({ label: label(pair.title), description: label(`${pair.what} · ${title}`), ...(what ? { detail: label(what) } : {}), pairs: [pair] })),
    ]),
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    { label: "$(refresh) Compile both again", again: true },
  ];
}

/** One stage in a diff editor, several in one editor below each other. */
async function showPairs(pairs: readonly Shown[], found: Comparison): Promise<void> {
  const [first] = pairs;
  if (first && pairs.length === 1) {
    const title = `${first.title} · ${first.graph} (${found.title}): ${found.summary}`;
    await vscode.commands.executeCommand("vscode.diff", vscode.Uri.parse(first.before), vscode.Uri.parse(first.after), title, { preview: false });
    return;
  }
  const resources = pairs.map(({ before, after }) => {
    const right = vscode.Uri.parse(after);
    return [right.with({ query: "" }), vscode.Uri.parse(before), right];
  });
  await vscode.commands.executeCommand("vscode.changes", `${found.title}: ${found.summary}`, resources);
}
