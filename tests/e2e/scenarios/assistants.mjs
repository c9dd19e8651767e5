// What coding assistants are offered: the editor's list of language-model tools, or its list of MCP servers, one of which it starts.
import fs from "node:fs";

import { log, play } from "./page.mjs";

await play(async (window, { file, tools, mcp, listed }) => {
  await window.open(file);
  const named = () => (fs.existsSync(listed) ? JSON.parse(fs.readFileSync(listed, "utf8")) : []);
  const until = (what, wanted) =>
    window.until(what, async () => {
      const seen = named();
      return [wanted(seen), seen];
    }, 100_000);
  if (!mcp) {
    const seen = await until("the language-model tools", (names) => tools.every((name) => names.includes(name)));
    log(`the editor lists ${seen.length} tools`);
    return { seen };
  }
  await until("the tools to give way to the server", (names) => !tools.some((name) => names.includes(name)));
  await window.command("MCP: List Servers");
  const row = window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Compile Lens" }).first();
  await row.waitFor();
  await window.shot("mcp-servers");
  await row.click();
  await window.shot("mcp-server");
  await window.pick("Start Server");
  await window.answer(/May Compile Lens run/, "Allow");
  const own = (names) => names.filter((name) => name.startsWith("mcp_"));
  const seen = own(await until("the tools of the server", (names) => own(names).length === tools.length));
  log(`the editor started the server, which has ${seen.join(", ")}`);
  return { seen };
});
