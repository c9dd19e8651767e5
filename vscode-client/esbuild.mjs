// Bundles the extension into a file for each side, so that the VSIX needs no node_modules.
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
