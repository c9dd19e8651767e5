/** Text for a message box, a language status item or an input box. VS Code makes a link of `[label](command:…)` there, which runs when it is clicked: names of folders may look so. */
export function notice(text: string): string {
  return text.replaceAll("](", "] (");
}

/** Text for a list to choose from, or a language status item. VS Code makes a picture of `$(name)` there: names of functions and files may look so. */
export function label(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/\$(?=\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\))/g, "$$ ");
}

/** Text escaped for Markdown, in one line. `appendText` of VS Code would also make every space non-breaking. */
export function plain(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]()#+\-.!<>|~$&]/g, "\\$&");
}
