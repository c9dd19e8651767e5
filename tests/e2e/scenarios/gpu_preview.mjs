// Kernels for a GPU that is not there: the command asks for the GPU, and opens what Triton makes of a kernel beside the source.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";
import { Views } from "./views.mjs";

await play(
  async (window, { file, gpu, line }) => {
    const { page } = window;
    const rows = page.locator(".quick-input-list .monaco-list-row");
    const source = await window.open(file);
    await window.statusReads(/^(?!.*starting)/);
    await window.goToLine(file, line);
    await window.command("Compile Lens: Preview Kernels for a GPU…");
    await rows.filter({ hasText: gpu }).first().waitFor();
    await window.shot("gpus");
    await window.pick(gpu);
    const ptx = rows.filter({ hasText: "PTX of" }).first();
    const input = page.locator(".quick-input-widget input.input");
    // the list is long, and has what is on the screen alone
    await page.locator(".quick-input-title", { hasText: "Open Compiler Stages" }).waitFor({ timeout: 600_000 });
    await window.shot("stages");
    await input.fill("PTX of");
    await ptx.waitFor();
    const offered = await ptx.innerText();
    await window.shot("assembly");
    await ptx.click();
    const code = page.locator('.monaco-editor[data-uri$=".ptx"]').first();
    await code.locator(".view-lines .view-line").first().waitFor();
    const tab = await page.locator(".tab", { hasText: ".ptx" }).first().getAttribute("aria-label");
    log(`opened ${tab}`);
    const text = (await code.locator(".view-lines").innerText()).replaceAll("\u00a0", " ");

    // the source leads to the lines of the assembly
    await source.element.locator(".view-line").first().click();
    await window.goToLine(file, line);
    const linked = await window.until("linked lines in the assembly", async () => {
      const found = await code.evaluate(
        (element) => [...element.querySelectorAll(".view-overlays .cdr")].filter((mark) => getComputedStyle(mark).borderTopWidth === "1px").length,
      );
      return [found > 0, found];
    });
    await window.shot("ptx-dark");
    const views = new Views(window);
    await views.setTheme("light");
    await window.shot("ptx-light");
    await views.setTheme("dark");

    // what is generated for the GPU, in the same list; nothing is compiled again
    await window.command("Compile Lens: Open Compiler Stages…");
    await input.fill("Output code");
    await rows.filter({ hasText: "Output code" }).first().waitFor();
    await rows.filter({ hasText: "Output code" }).first().click();
    const generated = page.locator('.monaco-editor[data-uri$="/output_code.py"]').first();
    await generated.locator(".view-lines .view-line").first().waitFor();
    await window.shot("code-dark");
    assert.ok(await source.element.isVisible());
    return { offered, tab, text, linked };
  },
  { viewport: { width: 1500, height: 900 } },
);
