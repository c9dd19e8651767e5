// The picture of the README: findings under the code, one explained in a hover, all of them in Problems.
import { play } from "./page.mjs";

await play(
  async (window, { file, problems }) => {
    const editor = await window.open(file);
    await window.answer(/in the background/, "Allow");
    await window.statusReads(new RegExp(`: ${problems} findings$`));
    await window.showProblems();
    await window.goToLine(file, 78);
    await editor.hover("norm = hidden.norm().item()", "item", "Tensor.item()");
    await window.shot("vscode");
  },
  { deviceScaleFactor: 2 },
);
