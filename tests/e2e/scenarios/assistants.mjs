// What coding assistants are offered: the editor's list of language-model tools, or its list of MCP servers, one of which it starts.
import fs from "node:fs";

import { log, play } from "./page.mjs";

await play(async (window, { file, tools, mcp, listed }) => {
  await window.open(file);
  if (!mcp) {
    const seen = await window.until("the language-model tools", async () => {
      const names = fs.existsSync(listed) ? JSON.parse(fs.readFileSync(listed, "utf8")) : [];
      return [tools.every((name) => names.includes(name)), names];
    });
    log(`the editor lists ${seen.length} tools`);
    return { seen };
  }
  await window.command("MCP: List Servers");
  const row = window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Compile Lens" }).first();
  await row.waitFor();
  await window.shot("mcp-servers");
  log(`the editor lists the server: ${(await row.innerText()).replaceAll("\n", " ")}`);
  await row.click();
  await window.shot("mcp-server");
  await window.pick("Start Server");
  const started = window.page.locator(".output-view-content .view-line", { hasText: /Discovered\s+\d+\s+tools/ }).first();
  await started.waitFor({ timeout: 100_000 });
  const seen = /\d+(?=\s+tools)/.exec(await started.innerText())?.[0];
  await window.shot("mcp-started");
  log(`the editor started the server, and found ${seen} tools`);
  return { seen: Number(seen) };
});
