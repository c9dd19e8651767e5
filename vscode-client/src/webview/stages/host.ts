/// <reference lib="dom" />
// The editor around the page, if it is shown in one: it saves pictures and opens lines. A page in a browser has none.

export type HostMessage =
  | { readonly kind: "save"; readonly name: string; readonly text: string }
  | { readonly kind: "open"; readonly file: string; readonly line: number };

export interface Host {
  postMessage(message: HostMessage): void;
}

declare const acquireVsCodeApi: (() => Host) | undefined;

export const host: Host | undefined = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : undefined;

/** `css` for the theme of the editor, which need not be the color scheme of the system. A browser's page keeps it. */
function inTheme(css: string): string {
  const kind = document.body.dataset["vscodeThemeKind"];
  if (kind === undefined) {
    return css;
  }
  const isDark = kind === "vscode-dark" || kind === "vscode-high-contrast";
  const scheme = isDark ? "dark" : "light";
  return css.replaceAll("(prefers-color-scheme: dark)", isDark ? "all" : "not all").replace("color-scheme: light dark", `color-scheme: ${scheme}`);
}

const themed = new Map<Element, string>();

/** Gives a style sheet the colors of the editor's theme, now and when it changes. */
export function followTheme(style: Element): void {
  themed.set(style, style.textContent ?? "");
  style.textContent = inTheme(style.textContent ?? "");
}

/** The page's colors as mixtures of the editor's, which VS Code has as variables of the page. */
const EDITOR_COLORS = {
  "--fg": "var(--vscode-editor-foreground)",
  "--bg": "var(--vscode-editor-background)",
  "--accent": "var(--vscode-focusBorder)",
  "--soft": "color-mix(in srgb, var(--vscode-editor-foreground) 75%, var(--vscode-editor-background))",
  "--line": "color-mix(in srgb, var(--vscode-editor-foreground) 22%, var(--vscode-editor-background))",
  "--alt": "color-mix(in srgb, var(--vscode-editor-foreground) 7%, var(--vscode-editor-background))",
};

if (host !== undefined) {
  for (const [name, color] of Object.entries(EDITOR_COLORS)) {
    document.documentElement.style.setProperty(name, color);
  }
  document.querySelectorAll("head style").forEach((style) => {
    if (style.id === "") { // the editor's own have one
      followTheme(style);
    }
  });
  new MutationObserver(() => {
    themed.forEach((css, style) => {
      if (style.isConnected) {
        style.textContent = inTheme(css);
      } else {
        themed.delete(style);
      }
    });
  }).observe(document.body, { attributes: true, attributeFilter: ["data-vscode-theme-kind"] });
}
