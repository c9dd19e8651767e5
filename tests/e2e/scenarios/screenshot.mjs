// The pictures of the README and the walkthrough. The first: findings under the code, one explained in a hover, all of them in Problems.
// The others: the tree and the details beside the code, in each theme, and the light bulb.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";
import { themeNames, Views } from "./views.mjs";

const panelTop = 571;

await play(
  async (window, { file, count, recompiling, rows, axe }) => {
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

    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+J");
    const views = new Views(window);
    await views.open();
    await views.widen(430);
    const seen = await window.until("the tree to list what the terminal prints", async () => {
      const outline = await views.outline();
      const said = outline.filter(({ description }) => /(^| )line \d+$/.test(description)).map(({ label, description }) => `${label} ${description}`);
      return [JSON.stringify(said.sort()) === JSON.stringify([...rows].sort()), { outline, rows }];
    });
    assert.equal(seen.outline[0].description, `${count} findings`);
    assert.ok(seen.outline.every(({ spoken }) => spoken.length > 0), "a row without a name for screen readers");
    log(`the tree: ${seen.outline.length} rows`);

    // the panel follows the cursor, which a click in the tree moves
    await views.row("branches on a tensor").click();
    await views.says("GB0170", "What to do", "torch.where", "Call path");
    await window.openFile(recompiling);
    await window.until("the recompiles in the tree", async () => [(await views.outline()).some(({ label }) => label.startsWith("Recompiled `scaled_loss`")), await views.outline()], 150_000);
    await views.row("Recompiled `scaled_loss`").click();
    await views.says("Guard that failed", "Called at", "0/1");
    await window.command("Compile Lens: Pin Details");
    await page.keyboard.press("Control+Home");
    await page.waitForTimeout(500);
    await views.says("Guard that failed");
    for (const theme of themeNames) {
      await views.setTheme(theme);
      await views.isAccessible(axe);
      await window.shot(`details-${theme}`, "css");
    }
    await window.command("Compile Lens: Unpin Details");
    await views.says("Nothing was found at the cursor.");
    await window.command("View: Close Editor");
    for (const theme of themeNames) {
      await views.setTheme(theme);
      await views.row("branches on a tensor").click();
      await views.says("GB0170");
      await window.shot(`findings-${theme}`, "css");
      await page.keyboard.press("Control+.");
      await page.locator(".action-widget .action").first().waitFor();
      await window.shot(`fixes-${theme}`, "css");
      await page.keyboard.press("Escape");
    }
    await views.setTheme("dark");

    // with which interpreter and torch
    await page.locator('[id="status.languageStatus"]').click();
    await page.getByText(/ · torch 2\.\d/).first().waitFor();
    await window.shot("language-status");
    await page.keyboard.press("Escape");
    await window.command("Compile Lens: Open Walkthrough");
    await page.getByText("Get Started with Compile Lens").first().waitFor();
    await window.shot("walkthrough");
  },
  { deviceScaleFactor: 2 },
);
