// What is shown of stages beyond the code: their picture on a page, what differs between two, and the languages of what Triton makes.
import assert from "node:assert/strict";
import fs from "node:fs";

import { log } from "./page.mjs";
import { Views } from "./views.mjs";

const page = (window) =>
  window.until("the page of graphs and kernels", async () => {
    for (const each of window.page.frames()) {
      if ((await each.locator("main .kernels").count().catch(() => 0)) > 0) return [true, each];
    }
    return [false, window.page.frames().map((each) => each.url())];
  });

/** The picture of the graph of a line: moved, zoomed, a node that leads to its line, and the picture saved in `folder`. */
export async function pictureOfRegion(window, file, line, folder) {
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

  await frame.getByRole("button", { name: "Save as SVG" }).click();
  const input = window.page.locator(".quick-input-widget input.input");
  await input.waitFor();
  await window.until("the name to save by", async () => {
    const name = await input.inputValue();
    return [name.endsWith(".svg"), name];
  });
  await window.page.waitForTimeout(500); // the dialog is still looking at the folder
  await input.press("Enter");
  const saved = await window.until("the saved picture", async () => {
    const name = fs.readdirSync(folder).find((each) => each.endsWith(".svg"));
    const isWhole = name !== undefined && fs.readFileSync(`${folder}/${name}`, "utf8").endsWith("</svg>");
    return [isWhole, `${folder}/${name}`];
  });
  log(`the picture of ${title} leads to line ${opened} and is saved`);
  await window.command("View: Close Editor").catch(() => undefined);
  return { title, svg: fs.readFileSync(saved, "utf8") };
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

/** The colors of what Triton makes, in three themes: how many a text has, and the lowest contrast with the background. */
export async function languages(window, files) {
  const views = new Views(window);
  await window.command("View: Close All Editors");
  await window.openFile(files[0]);
  for (const name of files.slice(1)) {
    await window.page.keyboard.press("Control+P");
    await window.page.locator(".quick-input-widget input.input").fill(name);
    await window.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().waitFor();
    await window.page.keyboard.press("Control+Enter");
    await window.editor(name).element.locator(".view-line").first().waitFor();
  }
  const found = {};
  for (const theme of ["dark", "light", "high-contrast"]) {
    await views.setTheme(theme);
    found[theme] = {};
    for (const name of files) {
      found[theme][name] = await window.until(`the colors of ${name}`, async () => {
        const seen = await window.editor(name).element.evaluate(colorsOf);
        return [seen.colors >= 4, seen];
      });
    }
    await window.shot(`languages-${theme}`);
  }
  await views.setTheme("dark");
  return found;
}

/** In the page: how many colors the words of an editor have, and the lowest contrast of one with the background. */
function colorsOf(editor) {
  const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\d.]+/g).map((each) => linear(Number(each) / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const background = luminance(getComputedStyle(editor.querySelector(".monaco-editor-background")).backgroundColor);
  const colors = new Map();
  for (const word of editor.querySelectorAll(".view-line span span")) {
    if (word.textContent.trim()) colors.set(getComputedStyle(word).color, word.textContent);
  }
  const contrasts = [...colors.keys()].map((color) => {
    const [high, low] = [luminance(color), background].sort((one, other) => other - one);
    return (high + 0.05) / (low + 0.05);
  });
  return { colors: colors.size, contrast: Math.min(...contrasts), words: Object.fromEntries(colors) };
}
