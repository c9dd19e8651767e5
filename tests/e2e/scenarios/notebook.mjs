// A notebook: findings stand in their cells, follow an edit in a cell above, and go when the cell is mended and the notebook is saved.
import assert from "node:assert/strict";

import { Editor, log, play } from "./page.mjs";

await play(
  async (window, { file, cells, mended }) => {
    const { page } = window;
    await window.show();
    await page.locator(".explorer-folders-view .monaco-list-row").first().waitFor();
    await window.choose(file);
    await window.answer(/May Compile Lens run/, "Allow");
    // the order on the screen is that of the cells; one that is rendered Markdown has no editor
    const cell = async (text) => {
      const element = page.locator(".notebookOverlay .cell .monaco-editor", { hasText: text }).first();
      await element.waitFor();
      return new Editor(window, element);
    };
    const show = async (expected) => {
      for (const { shown, underlined } of expected) await (await cell(shown)).isUnderlined(underlined, 120_000);
    };
    await show(cells);
    await window.statusReads(/: 1 finding$/);
    log("each finding is in its cell");
    const lens = page.locator(".notebookOverlay .codelens-decoration", { hasText: "2 graphs · 1 break" }).first();
    await lens.waitFor();
    await page.locator(".notebookOverlay .codelens-decoration", { hasText: "Analyze up to this cell" }).first().waitFor();

    const { line, text, says } = cells.find(({ hover }) => hover).hover;
    const told = await (await cell(line)).hover(line, text, says[0]);
    for (const part of says) assert.ok(told.includes(part), `the hover lacks: ${part}\n${told}`);
    await window.shot("notebook");

    await (await cell(mended.line)).clickBehind(mended.line, mended.line.trim());
    await page.keyboard.press("Control+/");
    await page.keyboard.press("Control+S");
    await show(mended.then);
    await window.statusReads(/Compile Lens$/);
    await window.shot("mended");
  },
  { viewport: { width: 1280, height: 1400 } },
);
