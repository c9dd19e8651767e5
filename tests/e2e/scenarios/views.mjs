// The views: the tree, the details at the cursor and the language status, in three themes; the panel is checked with axe.
import assert from "node:assert/strict";
import fs from "node:fs";

import { log } from "./page.mjs";

const themes = {
  dark: { label: "Dark Modern", type: "vs-dark" },
  light: { label: "Light Modern", type: "vs" },
  "high-contrast": { label: "Dark High Contrast", type: "hc-black" },
};

export class Views {
  constructor(window) {
    this.window = window;
    this.page = window.page;
    this.rows = this.page.locator('.pane:has([aria-label^="Findings Section"]) .monaco-list-row');
  }

  async open() {
    await this.window.command("Compile Lens: Focus on Findings View");
    await this.rows.first().waitFor();
  }

  /** Drags the edge of the side bar to `x`. */
  async widen(x) {
    const side = await this.page.locator(".part.sidebar").boundingBox();
    const y = side.y + side.height / 2;
    await this.page.mouse.move(side.x + side.width, y);
    await this.page.waitForTimeout(400); // an edge is taken only after a moment
    await this.page.mouse.down();
    await this.page.mouse.move(x, y, { steps: 5 });
    await this.page.mouse.up();
  }

  row(text) {
    return this.rows.filter({ hasText: text }).first();
  }

  /** What the tree says: [{ level, label, description }] of the rows on the screen. */
  async outline() {
    return this.rows.evaluateAll((rows) =>
      rows
        .sort((a, b) => Number(a.dataset.index) - Number(b.dataset.index))
        .map((row) => ({
          level: Number(row.getAttribute("aria-level")),
          label: row.querySelector(".label-name")?.textContent?.trim() ?? "",
          description: row.querySelector(".label-description")?.textContent?.trim() ?? "",
          spoken: row.getAttribute("aria-label") ?? "",
        })),
    );
  }

  /** The document of the details panel. */
  async panel() {
    return this.window.until("the details panel", async () => {
      for (const frame of this.page.frames()) {
        if (await frame.locator('main[aria-label="Details at the cursor"]').count().catch(() => 0)) return [true, frame];
      }
      return [false, this.page.frames().map((frame) => frame.url())];
    });
  }

  /** Waits until the panel says all `wanted`. */
  async says(...wanted) {
    const frame = await this.panel();
    return this.window.until(`details with ${wanted}`, async () => {
      const text = await frame.locator("main").innerText();
      return [wanted.every((part) => text.includes(part)), text];
    });
  }

  /** Changes the theme as a user does. */
  async setTheme(name) {
    const { label, type } = themes[name];
    if (await this.page.locator(`.monaco-workbench.${type}`).count()) return;
    await this.window.command("Preferences: Color Theme");
    const input = this.page.locator(".quick-input-widget input.input");
    await input.fill(label);
    await this.page.keyboard.press("Enter");
    await this.page.locator(`.monaco-workbench.${type}`).waitFor();
    await input.waitFor({ state: "hidden" });
    await this.page.waitForTimeout(500); // webviews are told after the workbench
  }

  /** Checks the panel with axe. */
  async isAccessible(axe) {
    const frame = await this.panel();
    // the policy of the page allows no script but its own; an evaluated one is not of the page
    await frame.evaluate(fs.readFileSync(axe, "utf8"));
    const { violations } = await frame.evaluate(() => globalThis.axe.run(document.querySelector("main")));
    assert.deepEqual(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`) })),
      [],
    );
    log("axe has nothing to say of the details panel");
  }
}

export const themeNames = Object.keys(themes);
