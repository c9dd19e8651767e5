/** Text for a message box. VS Code makes a link of `[label](command:…)` there, which runs when it is clicked: names of folders may look so. */
export function notice(text: string): string {
  return text.replaceAll("](", "] (");
}
