// The picture of the README: findings under the code, one explained in a hover, all of them in Problems.
import { play } from "./page.mjs";

const panelTop = 571;

await play(
  async (window, { file, count }) => {
    const { page } = window;
    const editor = await window.open(file);
    await window.answer(/May Compile Lens run/, "Allow");
    await window.statusReads(new RegExp(`: ${count} findings$`));

    // what only a VS Code in a browser has
    const foreign = ["status.host", "status.forwardedPorts", "status.workbench.keyboardLayout"];
    await page.addStyleTag({ content: `${foreign.map((id) => `[id="${id}"]`).join()} { display: none !important }` });
    await page.keyboard.press("Control+B");
    await window.showProblems();
    const panel = await page.locator(".part.panel").boundingBox();
    const edges = await page.locator(".monaco-sash.horizontal:not(.disabled)").all();
    const boxes = (await Promise.all(edges.map((edge) => edge.boundingBox()))).filter((box) => box?.width > 100);
    const [edge] = boxes.sort((a, b) => Math.abs(a.y - panel.y) - Math.abs(b.y - panel.y));
    await window.drag(edge, panelTop);

    await window.goToLine(file, 66);
    await editor.scrollToTop("self.attention(self.attention_norm(x))", 1);
    await editor.clickBehind("if x.abs().max() > OVERFLOW_LIMIT", ":");
    await editor.hover("if x.abs().max() > OVERFLOW_LIMIT", "max", "data-dependent branching");
    await window.shot("vscode");
  },
  { deviceScaleFactor: 2 },
);
