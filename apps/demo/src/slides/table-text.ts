export type TextBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "table"; readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] };

/** A text as its Markdown tables and what stands between them; undefined: there is no table in it. */
export function tableText(text: string): readonly TextBlock[] | undefined {
  if (!text.includes("|")) return undefined;
  const lines = text.split("\n");
  const blocks: TextBlock[] = [];
  let from = 0;
  const pushText = (to: number) => {
    const between = lines
      .slice(from, to)
      .join("\n")
      .replace(/^\n+|\n+$/g, "");
    if (between) blocks.push({ type: "text", text: between });
  };
  for (let at = 0; at < lines.length; at += 1) {
    const header = cells(lines[at]);
    const rule = cells(lines[at + 1]);
    if (!header || rule?.length !== header.length || !rule.every((cell) => /^:?-+:?$/.test(cell))) continue;
    pushText(at);
    const rows: (readonly string[])[] = [];
    at += 2;
    for (let row = cells(lines[at]); row; row = cells(lines[at])) {
      // A row has as many cells as the header, as in Markdown.
      rows.push(header.map((_, column) => row?.[column] ?? ""));
      at += 1;
    }
    blocks.push({ type: "table", header, rows });
    from = at;
    at -= 1;
  }
  if (blocks.every(({ type }) => type === "text")) return undefined;
  pushText(lines.length);
  return blocks;
}

/** The cells of a line that begins and ends with a bar. A bar behind a backslash belongs to its cell. */
function cells(line: string | undefined): readonly string[] | undefined {
  const inside = /^\s*\|(.*)\|\s*$/.exec(line ?? "")?.[1];
  return inside?.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}
