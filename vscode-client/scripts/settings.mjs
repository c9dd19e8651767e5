// Copies the server's settings into package.json and into the README's table: `python -m compile_lens.settings.groups | npm run settings`.
// Settings of this client alone are the last group, and stay as they are.
import { readFileSync, writeFileSync } from "node:fs";

const own = ["interpreter", "importStrategy", "path", "server.command", "trace.server"].map((name) => `compileLens.${name}`);
const manifestFile = new URL("../package.json", import.meta.url);
const readmeFile = new URL("../README.md", import.meta.url);
const manifest = JSON.parse(readFileSync(manifestFile, "utf8"));
const before = Object.assign({}, ...[manifest.contributes.configuration].flat().map(({ properties }) => properties));
const groups = JSON.parse(readFileSync(0, "utf8"));
const properties = Object.fromEntries(own.map((name, order) => [name, { ...before[name], order }]));
manifest.contributes.configuration = [...groups, { title: "Language server", order: groups.length, properties }];
writeFileSync(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`);

const [begin, end] = ["<!-- settings: npm run settings -->", "<!-- end of settings -->"];
const cell = (text) => text.replaceAll("|", "\\|").replace(/`#([\w.]+)#`/g, "`$1`");
const table = manifest.contributes.configuration.map(({ title, properties }) =>
  [`### ${title}`, "", "| setting | effect |", "|---|---|", ...Object.entries(properties).map(([name, { markdownDescription }]) => `| \`${name}\` | ${cell(markdownDescription)} |`)].join("\n"),
);
const readme = readFileSync(readmeFile, "utf8");
const [head, rest] = readme.split(begin);
writeFileSync(readmeFile, `${head}${begin}\n\n${table.join("\n\n")}\n\n${end}${rest.split(end)[1]}`);
