// Copies the server's settings into package.json: `python -m compile_lens.settings.settings | npm run settings`.
// Settings of this client alone stay as they are.
import { readFileSync, writeFileSync } from "node:fs";

const own = ["interpreter", "importStrategy", "path", "server.command", "trace.server"].map((name) => `compileLens.${name}`);
const manifestFile = new URL("../package.json", import.meta.url);
const manifest = JSON.parse(readFileSync(manifestFile, "utf8"));
const { configuration } = manifest.contributes;
const { properties } = JSON.parse(readFileSync(0, "utf8"));
for (const name of own) {
  properties[name] = configuration.properties[name];
}
configuration.properties = properties;
writeFileSync(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`);
