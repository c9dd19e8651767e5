// What is shown of stages beyond the code: their picture on a page, what differs between two, and the languages of what Triton makes.
import assert from "node:assert/strict";

import { log } from "./page.mjs";
import { Views } from "./views.mjs";

const page = (window) =>
  window.until("the page of graphs and kernels", async () => {
    for (const each of window.page.frames()) {
      if ((await each.locator("main .kernels").count().catch(() => 0)) > 0) return [true, each];
    }
    return [false, window.page.frames().map((each) => each.url())];
  });

/** The picture of the graph of a line: moved, zoomed, and a node that leads to its line. */
export async function pictureOfRegion(window, file, line) {
  await window.goToLine(file, line);
  await window.command("Compile Lens: Show Region as Graph");
  const frame = await page(window);
  const picture = frame.locator("svg.picture");
  await picture.waitFor();
  const title = await frame.locator("select[name=Graph]").evaluate((select) => select.options[select.selectedIndex].text);
  const inView = await picture.evaluate((image) => image.getBoundingClientRect().top < innerHeight - 100);
  assert.ok(inView, "the picture is on the screen");
  const viewBox = () => picture.getAttribute("viewBox");
  await window.shot("graph-dark");

  const begun = await viewBox();
  await frame.getByRole("button", { name: "+" }).click();
  const zoomed = await viewBox();
  assert.notEqual(zoomed, begun);
  const bounds = await picture.boundingBox();
  const { mouse } = window.page;
  await mouse.move(bounds.x + 8, bounds.y + 8);
  await mouse.down();
  await mouse.move(bounds.x + 60, bounds.y + 40, { steps: 4 });
  await mouse.up();
  const moved = await viewBox();
  log(`zoomed and moved from ${begun} to ${moved}`);
  assert.notEqual(moved, zoomed);
  await frame.getByRole("button", { name: "Fit" }).click();
  log("fitted");

  // a node leads to its line, which is not the cursor's
  const active = () => window.editor(file).element.locator(".margin .line-numbers.active-line-number").allTextContents();
  assert.deepEqual(await active(), [String(line)], "a drag chooses nothing");
  await picture.locator(".operator").first().click();
  log("clicked a node");
  const opened = await window.until("the line of the node", async () => {
    const lines = await active();
    return [lines.length > 0 && lines[0] !== String(line), lines];
  });
  await window.shot("graph-node");

  log(`the picture of ${title} leads to line ${opened}`);
  await window.command("View: Close Editor").catch(() => undefined);
  return { title };
}

/** Picks an item by the keyboard: the hover of the item that the pointer is on would be in the way of a click. */
async function choose(window, label) {
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: label }).first().waitFor();
  await window.page.locator(".quick-input-widget input.input").fill(label);
  await window.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: label }).first().waitFor();
  await window.page.keyboard.press("Enter");
}

/** What differs from the run before, in VS Code's diff editors. */
export async function comparison(window, file) {
  const rows = window.page.locator(".quick-input-list .monaco-list-row");
  await window.goToLine(file, 1);
  await window.command("Compile Lens: Compare Compiler Stages…");
  await rows.filter({ hasText: "The run before" }).first().waitFor();
  await window.shot("compare-what");
  await choose(window, "The run before");
  await rows.filter({ hasText: "Output code" }).first().waitFor();
  const summary = await window.page.locator(".quick-input-title").innerText();
  await window.shot("compare-stages");
  await choose(window, "Output code");
  const diff = window.page.locator(".monaco-diff-editor");
  await diff.waitFor();
  const removed = await window.until("the lines that differ", async () => {
    const found = await diff.locator(".editor.original .line-delete").count();
    return [found > 0, found];
  });
  const tab = await window.page.locator(".tab", { hasText: "Output code ·" }).first().getAttribute("aria-label");
  const views = new Views(window);
  await window.shot("compare-diff-dark");
  await views.setTheme("light");
  await window.shot("compare-diff-light");
  await views.setTheme("dark");
  await window.command("View: Close Editor");

  // several at once, below each other
  await window.editor(file).element.locator(".view-line").first().click();
  await window.command("Compile Lens: Compare Compiler Stages…");
  await choose(window, "Before and after the compiler's passes");
  await rows.filter({ hasText: /All \d+ stages that differ/ }).first().waitFor();
  await window.shot("compare-passes");
  await choose(window, "stages that differ");
  await window.page.locator(".multiDiffEntry").first().waitFor();
  await window.until("the first stages", async () => {
    const found = await window.page.locator(".multiDiffEntry .view-line").count();
    return [found > 0, found];
  });
  await window.shot("compare-all");
  await window.command("View: Close Editor");
  return { summary, tab, removed };
}
