// Bundles the extension into a file for each side, so that the VSIX needs no node_modules.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, minify: true, sourcemap: process.argv.includes("--sourcemap"), logLevel: "warning" };

await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
});

// what runs in the details panel
await build({
  ...common,
  entryPoints: ["src/webview/details.ts"],
  outfile: "dist/details.js",
  platform: "browser",
  format: "iife",
  target: "es2022",
});

// what runs in a page that the server writes. It is kept in the repository, so that a wheel is built without Node
const page = "../server/compile_lens/formats/templates/stages_page.js";
const folder = "src/webview/stages";
const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const given = [...readdirSync(folder).sort().map((name) => readFileSync(`${folder}/${name}`)), lock.packages["node_modules/@dagrejs/dagre"].version];
const hash = createHash("sha256");
given.forEach((part) => hash.update(part));
await build({
  ...common,
  sourcemap: false,
  entryPoints: [`${folder}/page.ts`],
  outfile: page,
  platform: "browser",
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "inline",
  // tests/formats/test_stages_page.py compares it with the sources
  banner: { js: `/* made from ${folder} by esbuild.mjs: ${hash.digest("hex")} */` },
});
