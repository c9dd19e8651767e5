// Names of torch's: a flag is explained, completed and put right; a class is explained in a dump; an operator leads to its lowering.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";

await play(
  async (window, { file, dump }) => {
    const { page } = window;
    let editor = await window.open(file);
    // the server is there once the typo is underlined
    await editor.isUnderlined([{ line: 5, text: "graph_brakes", severity: "warning" }]);

    const flag = await editor.hover("TORCH_LOGS", "recompiles", "TORCH_LOGS=recompiles");
    assert.match(flag, /guard that failed/);
    assert.match(flag, /torch 2\./);
    log("the hover of a flag says what it prints, and for which torch");

    await editor.clickBehind("graph_brakes", "graph_brakes");
    await page.keyboard.press("Control+.");
    const fix = page.locator(".action-widget .monaco-list-row", { hasText: "graph_breaks" }).first();
    await fix.waitFor();
    await fix.click();
    await editor.isUnderlined([]);
    log("the typo is put right by its quick fix");

    await editor.clickBehind("TORCH_LOGS", "recompiles");
    await page.keyboard.type(",fus");
    const item = page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "fusion" }).first();
    await item.waitFor();
    await page.keyboard.press("Enter");
    await window.until("the flag to be completed", async () => {
      const text = await editor.line("TORCH_LOGS").innerText();
      return [text.includes("recompiles,fusion"), text];
    });
    await window.shot("completed");
    log("a flag is completed after a comma");

    await editor.clickBehind("torch.ops.aten.relu", "relu");
    await page.keyboard.press("F12");
    await page.locator('.monaco-editor[data-uri$="/torch/_inductor/lowering.py"]').first().waitFor();
    await window.shot("lowering");
    log("the operator leads to its lowering in the installed torch");
    await page.keyboard.press("Escape");

    editor = await window.openFile(dump);
    const node = await editor.hover("Pointwise", "Pointwise", "Inductor class");
    assert.match(node, /One value per index/);
    log("a class is explained in a dump of the IR");
    await window.shot("dump");
  },
  { viewport: { width: 1500, height: 900 } },
);
