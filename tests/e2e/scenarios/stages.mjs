// The compiler's stages beside the source: one command opens the code, colors match, the cursor leads from one side to the other.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";
import { comparison, languages, pictureOfRegion } from "./stages_more.mjs";
import { Views } from "./views.mjs";

/** The lines (numbers) that have a decoration whose rule has `border` as its width, as the eye sees them. */
function marked(editor, border) {
  return editor.element.evaluate((element, wanted) => {
    const numbers = new Map();
    for (const number of element.querySelectorAll(".margin .line-numbers")) {
      numbers.set(Math.round(number.getBoundingClientRect().top), Number(number.textContent));
    }
    const found = [];
    for (const mark of element.querySelectorAll(".view-overlays .cdr")) {
      const style = getComputedStyle(mark);
      if (style.borderTopWidth + style.borderLeftWidth !== wanted) continue;
      const top = mark.getBoundingClientRect().top;
      const line = [...numbers].find(([each]) => Math.abs(each - top) <= 2)?.[1];
      if (line !== undefined) found.push({ line, color: style.borderLeftColor });
    }
    return found;
  }, border);
}

const colored = (editor) => marked(editor, "0px3px");
const linked = (editor) => marked(editor, "1px0px");

await play(
  async (window, { file, line, texts, folder }) => {
    const { page } = window;
    const source = await window.open(file);
    await window.statusReads(/^(?!.*starting)/);
    await window.goToLine(file, line);
    await window.command("Compile Lens: Open Compiler Stages…");
    const item = page.locator(".quick-input-list .monaco-list-row", { hasText: "Output code" }).first();
    await item.waitFor({ timeout: 120_000 });
    await window.shot("stages");
    await item.click();
    const code = window.editor("output_code.py");
    await code.element.locator(".view-lines .view-line").first().waitFor();
    log("the output code is open beside the source");

    // the same color on both sides
    const sides = await window.until("colors on both sides", async () => {
      const [left, right] = [await colored(source), await colored(code)];
      return [left.length > 0 && right.length > 0, [left, right]];
    });
    assert.ok(new Set(sides[0].map(({ color }) => color)).size >= 4, JSON.stringify(sides[0]));

    // the cursor in the source: its lines of the code are shown and marked
    await source.element.locator(".view-line").first().click();
    await window.goToLine(file, line);
    const kernels = await window.until("linked lines in the code", async () => {
      const marks = await linked(code);
      return [marks.length > 0, marks];
    });
    const mine = (await colored(source)).find((each) => each.line === line);
    assert.ok(mine, `line ${line} of the source has a color`);
    await window.shot("linked-dark");

    // how long it takes from the key to the mark, as the page sees it
    const times = [];
    for (const key of ["ArrowDown", "ArrowUp", "ArrowDown", "ArrowUp", "ArrowDown", "ArrowUp"]) {
      await page.evaluate(() => {
        const state = { since: 0, took: undefined };
        globalThis.linkTimes = state;
        document.addEventListener("keydown", () => (state.since = performance.now()), { capture: true, once: true });
        const right = document.querySelector('.monaco-editor[data-uri$="/output_code.py"] .view-overlays');
        const observer = new MutationObserver(() => {
          const shown = [...right.querySelectorAll(".cdr")].some((mark) => getComputedStyle(mark).borderTopWidth === "1px");
          if (state.since > 0 && shown) {
            state.took = performance.now() - state.since;
            observer.disconnect();
          }
        });
        observer.observe(right, { subtree: true, childList: true, attributes: true });
      });
      await page.keyboard.press(key);
      await page.waitForTimeout(400);
      times.push(await page.evaluate(() => globalThis.linkTimes.took));
    }
    log(`from the key to the mark: ${times.map((time) => time?.toFixed(0)).join(", ")} ms`);

    // and back
    await code.element.click({ position: { x: 300, y: 100 } }); // the first line may be out of sight
    await page.keyboard.press("Control+G");
    await page.locator(".quick-input-widget input.input").fill(`:${kernels[0].line}`);
    await page.keyboard.press("Enter");
    const back = await window.until("linked lines in the source", async () => {
      const marks = await linked(source);
      return [marks.length > 0, marks];
    });
    await window.shot("back-dark");
    const views = new Views(window);
    await views.setTheme("light");
    await window.shot("linked-light");
    await views.setTheme("high-contrast");
    await window.shot("linked-high-contrast");
    await views.setTheme("dark");

    // all of it on one page, with the picture of the graph
    await window.command("Compile Lens: Show Graphs and Kernels");
    const frame = await window.until("the page of graphs and kernels", async () => {
      for (const each of page.frames()) {
        if ((await each.locator("main .kernels").count().catch(() => 0)) > 0) return [true, each];
      }
      return [false, page.frames().map((each) => each.url())];
    });
    await frame.locator(".graph").scrollIntoViewIfNeeded(); // it is drawn when it comes into view
    await frame.locator(".graph svg").first().waitFor();
    await window.shot("page-dark");
    await views.setTheme("light");
    await window.shot("page-light");
    await views.setTheme("dark");
    await window.command("View: Close Editor");

    const compared = await comparison(window, file);
    const picture = await pictureOfRegion(window, file, line, folder);
    const colors = await languages(window, texts);
    return { kernels: kernels.map((each) => each.line), back: back.map((each) => each.line), times, picture, compared, colors };
  },
  { viewport: { width: 1500, height: 900 } },
);
