// A VS Code window in a browser, with the words that the scenarios are written in.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const given = JSON.parse(process.env.SCENARIO);
const started = Date.now();

export function log(message) {
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${message}`);
}

/**
 * Plays `scenario(window, data)` in a window on the folder of this run, and leaves what it returns for the test.
 * `options` are those of a browser page; a failure leaves a screenshot.
 */
export async function play(scenario, options = {}) {
  const browser = await chromium.launch({
    executablePath: given.browser,
    headless: true,
    // one person's machine and no secrets in it: the sandbox would need privileges that a container lacks
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  let page;
  try {
    page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
    page.setDefaultTimeout(60_000);
    const foreign = [];
    page.on("request", (request) => {
      const url = new URL(request.url());
      // a name that webviews use for local files: VS Code's service worker answers, and nothing leaves the machine
      const isLocalFile = url.host.endsWith(".vscode-resource.vscode-cdn.net");
      if (/^(https?|wss?):$/.test(url.protocol) && url.host !== new URL(given.url).host && !isLocalFile) foreign.push(url.href);
    });
    page.on("pageerror", (error) => log(`error in the page: ${error.message}`));
    const result = await scenario(new Window(page), given.data);
    assert.deepEqual(foreign, [], "requests went to other hosts");
    fs.writeFileSync(given.result, JSON.stringify(result ?? {}));
    log("passed");
  } catch (error) {
    const picture = `${given.shots}/failure.png`;
    await page?.screenshot({ path: picture }).catch(() => undefined);
    log(`FAILED: ${error.stack}\nscreenshot: ${picture}`);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

export class Window {
  constructor(page) {
    this.page = page;
    this.status = page.locator('[id="compile-lens.compile-lens.compileLens.status"]');
    this.hoverText = page.locator(".monaco-hover:not(.hidden) .monaco-hover-content");
    this.toast = page.locator(".notifications-toasts .notification-list-item");
  }

  /** Opens the folder with `files` as tabs, the first of them in front. */
  async open(...files) {
    await this.show(...files);
    const editor = this.editor(files[0]);
    await editor.element.locator(".view-lines .view-line").first().waitFor();
    log(`opened ${files.join(", ")}`);
    return editor;
  }

  /** The same, without waiting for the text. A notebook has no text editor: open the folder alone and choose it there. */
  async show(...files) {
    const host = new URL(given.url).host;
    const payload = files.map((name) => ["openFile", `vscode-remote://${host}${given.folder}/${name}`]);
    const query = new URLSearchParams({ folder: given.folder, payload: JSON.stringify(payload) });
    await this.page.goto(`${given.url}/?${query}`, { waitUntil: "domcontentloaded" });
  }

  /** Opens one more file of the folder, as a user does. */
  async openFile(name) {
    await this.choose(name);
    const editor = this.editor(name);
    await editor.element.locator(".view-lines .view-line").first().waitFor();
    return editor;
  }

  async choose(name) {
    await this.page.keyboard.press("Control+P");
    await this.page.locator(".quick-input-widget input.input").waitFor();
    await this.page.keyboard.type(name);
    await this.pick(name);
  }

  editor(name) {
    return new Editor(this, this.page.locator(`.monaco-editor[data-uri$="/${name}"]`).first());
  }

  /** Runs a command of the palette, by the title that a user reads there. */
  async command(title) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input.input");
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.pick(title);
  }

  /** Picks an item of the list that is open. */
  async pick(label) {
    const item = this.page.locator(".quick-input-list .monaco-list-row", { hasText: label }).first();
    await item.waitFor();
    await item.click();
  }

  /** Answers a question that a notification asks; one that has waited too long for an answer is behind the bell. */
  async answer(question, button) {
    const asked = this.page.locator(".notification-list-item:visible", { hasText: question }).first();
    await this.until(`the question ${question}`, async () => {
      if (await asked.isVisible()) return [true];
      // a second click would close the list again
      const list = this.page.locator(".notifications-center.visible");
      const unread = this.page.locator('[id="status.notifications"] a:has(.codicon-bell-dot)');
      if (!(await list.isVisible()) && (await unread.isVisible())) {
        await unread.click();
        await list.waitFor({ timeout: 5_000 }).catch(() => undefined);
        await this.page.mouse.move(640, 200); // the bell's own hover would lie over the list
      }
      return [false, await this.page.locator(".notification-list-item:visible").allInnerTexts()];
    });
    const text = await asked.locator(".notification-list-item-message").innerText();
    await asked.locator(".monaco-button", { hasText: button }).first().click();
    await asked.waitFor({ state: "detached" });
    log(`answered "${button}" to "${text}"`);
    return text;
  }

  /** Waits until the status item reads as `pattern` says. */
  async statusReads(pattern, timeout = 60_000) {
    await this.until(`the status item to read ${pattern}`, async () => {
      const text = (await this.status.innerText().catch(() => "")).trim();
      return [pattern.test(text), text];
    }, timeout);
    log(`status item: ${(await this.status.innerText()).trim()}`);
  }

  /** Polls `look`, which gives [done, what it saw], and says what it saw last when `timeout` ms are over. */
  async until(what, look, timeout = 60_000) {
    const deadline = Date.now() + timeout;
    for (;;) {
      const [done, seen] = await look();
      if (done) return seen;
      assert.ok(Date.now() < deadline, `waited ${timeout / 1000} s for ${what}; last seen: ${JSON.stringify(seen, null, 1)}`);
      await this.page.waitForTimeout(100);
    }
  }

  async goToLine(file, line) {
    await this.editor(file).element.locator(".view-line").first().click();
    await this.page.keyboard.press("Control+G");
    await this.page.locator(".quick-input-widget input.input").fill(`:${line}`);
    await this.page.keyboard.press("Enter");
  }

  async showProblems() {
    await this.command("Problems: Focus on Problems View");
    await this.page.locator(".markers-panel").waitFor();
  }

  /** What the Problems panel says: [{ file, severity, message, source, code, line, column }]. */
  problemRows() {
    return this.page.locator(".markers-panel .monaco-list-row").evaluateAll((rows) => {
      const found = [];
      let file;
      for (const row of rows.sort((a, b) => Number(a.dataset.index) - Number(b.dataset.index))) {
        const text = (selector) => row.querySelector(selector)?.textContent?.trim();
        if (row.getAttribute("aria-level") === "1") {
          file = text(".label-name");
        } else if (text(".marker-source") !== undefined) {
          const [, line, column] = /Ln (\d+), Col (\d+)/.exec(row.textContent) ?? [];
          found.push({
            file,
            severity: /^\w+/.exec(row.getAttribute("aria-label"))[0].toLowerCase(),
            message: text(".marker-message-line .monaco-highlighted-label") ?? text(".marker-message-line"),
            source: text(".marker-source"),
            code: text(".marker-code"),
            line: Number(line),
            column: Number(column),
          });
        }
      }
      return found;
    });
  }

  /** Drags the edge between two parts, which is at `box`, to the height `y`. */
  async drag(box, y) {
    const x = box.x + box.width / 2;
    await this.page.mouse.move(x, box.y + box.height / 2);
    await this.page.waitForTimeout(400); // an edge is taken only after a moment
    await this.page.mouse.down();
    await this.page.mouse.move(x, y, { steps: 5 });
    await this.page.mouse.up();
  }

  /** Does `action` until `content` is shown: a hover that came up too early keeps its text, and a click can be too early, too. */
  async showAfter(content, action) {
    for (let attempt = 1; ; attempt++) {
      await this.page.mouse.move(5, 5);
      await this.page.waitForTimeout(300);
      await action();
      try {
        return await content.waitFor({ timeout: 15_000 });
      } catch (error) {
        if (attempt === 5) throw error;
      }
    }
  }

  async shot(name, scale = "device") {
    await this.page.waitForTimeout(400); // hovers and toasts fade in, even with reduced motion
    const path = name.startsWith("/") ? name : `${given.shots}/${name}.png`;
    await this.page.screenshot({ path, scale });
    log(`screenshot: ${path}`);
  }
}

export class Editor {
  constructor(window, element) {
    this.window = window;
    this.element = element;
  }

  line(text) {
    return this.element.locator(".view-line", { hasText: text }).first();
  }

  /** What is underlined: [{ line, text, severity }], as the eye sees it: the characters above each squiggle. */
  squiggles() {
    return this.element.evaluate((editor) => {
      const numbers = new Map();
      for (const number of editor.querySelectorAll(".margin .line-numbers")) {
        numbers.set(Math.round(number.getBoundingClientRect().top), Number(number.textContent));
      }
      const characters = [];
      // One range for all: a document updates each that was ever made whenever it changes, until the garbage is collected.
      const range = document.createRange();
      for (const line of editor.querySelectorAll(".view-lines .view-line")) {
        const top = Math.round(line.getBoundingClientRect().top);
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          for (let i = 0; i < node.data.length; i++) {
            range.setStart(node, i);
            range.setEnd(node, i + 1);
            const box = range.getBoundingClientRect();
            characters.push({ top, middle: (box.left + box.right) / 2, text: node.data[i] });
          }
        }
      }
      const found = [];
      for (const mark of editor.querySelectorAll(".squiggly-error, .squiggly-warning, .squiggly-info, .squiggly-hint")) {
        const box = mark.getBoundingClientRect();
        if (box.width === 0) continue;
        const line = [...numbers].find(([top]) => Math.abs(top - box.top) <= 2);
        const text = characters
          .filter((each) => Math.abs(each.top - box.top) <= 2 && each.middle > box.left && each.middle < box.right)
          .map((each) => each.text)
          .join("");
        found.push({ line: line?.[1], text: text.replaceAll("\u00a0", " "), severity: /squiggly-(\w+)/.exec(mark.className)[1] });
      }
      return found;
    });
  }

  /** Waits until exactly `expected` is underlined. */
  async isUnderlined(expected, timeout = 60_000) {
    const inOrder = (marks) => marks.map(({ line, text, severity }) => `${line} ${severity} ${text}`).sort();
    const wanted = JSON.stringify(inOrder(expected));
    return this.window.until(`squiggles ${wanted}`, async () => {
      const seen = inOrder(await this.squiggles());
      return [JSON.stringify(seen) === wanted, seen];
    }, timeout);
  }

  /** Hovers `text` in the line that has `lineText`, and gives the text of the hover once it has `wanted`. */
  async hover(lineText, text, wanted) {
    const { page } = this.window;
    await page.keyboard.press("Escape");
    const content = this.window.hoverText.filter({ hasText: wanted }).first();
    await this.window.showAfter(content, async () => {
      const spot = await this.place(lineText, text);
      await page.mouse.move(spot.x - 3, spot.y);
      await page.mouse.move(spot.x, spot.y, { steps: 3 });
    });
    return content.innerText();
  }

  /** Puts the cursor behind `text` in the line that has `lineText`. */
  async clickBehind(lineText, text) {
    const spot = await this.place(lineText, text);
    await this.window.page.mouse.click(spot.right - 1, spot.y);
  }

  /** Where `text` stands on the screen. */
  async place(lineText, text) {
    const line = this.line(lineText);
    await line.waitFor();
    const place = await line.evaluate((element, wanted) => {
      const whole = element.textContent.replaceAll("\u00a0", " ");
      const start = whole.indexOf(wanted);
      if (start < 0) return undefined;
      const range = document.createRange();
      let offset = 0;
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const end = offset + node.data.length;
        if (start >= offset && start < end) range.setStart(node, start - offset);
        if (start + wanted.length > offset && start + wanted.length <= end) range.setEnd(node, start + wanted.length - offset);
        offset = end;
      }
      const box = range.getBoundingClientRect();
      return { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, right: box.right };
    }, text);
    assert.ok(place, `there is no ${text} in the line of ${lineText}`);
    return place;
  }

  /** Scrolls until the line that has `text`, which is on the screen, has `above` lines above it. */
  async scrollToTop(text, above = 0) {
    const { page } = this.window;
    const frame = await this.element.boundingBox();
    await page.mouse.move(frame.x + frame.width / 2, frame.y + frame.height / 2);
    await this.window.until(`${text} at the top`, async () => {
      const line = await this.line(text).boundingBox();
      const distance = line.y - above * line.height - frame.y;
      // the least that the wheel does is about a line: it may never stop nearer than half of one
      const near = Math.abs(distance) <= line.height / 2 + 1;
      if (!near) await page.mouse.wheel(0, distance);
      return [near, distance];
    });
  }

  async save() {
    await this.window.page.keyboard.press("Control+S");
  }
}
