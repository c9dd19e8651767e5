// What coding assistants are offered: the editor's list of language-model tools, or its list of MCP servers.
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
  const seen = (await row.innerText()).split("\n").map((part) => part.trim());
  log(`the editor lists the server: ${seen.join(" ")}`);
  return { seen };
});
