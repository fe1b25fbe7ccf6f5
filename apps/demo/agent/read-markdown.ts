import { marked, type Token, type Tokens } from "marked";

export interface MarkdownText {
  readonly title: string;
  readonly sections: readonly Section[];
}

/** What stands under one heading. */
export interface Section {
  readonly name: string;
  /** Its paragraphs, lists, tables and code, each as plain text. */
  readonly blocks: readonly Block[];
}

export interface Block {
  readonly text: string;
  readonly table?: { readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

/**
 * Reads Markdown as a title and its sections. The only top heading is the title, and sections begin at the next level
 * that the text uses; a text without such a heading takes its title from `fallbackTitle` (its file's name).
 */
export function readMarkdown(markdown: string, fallbackTitle: string): MarkdownText {
  const tokens = marked.lexer(markdown);
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === "heading");
  const top = Math.min(...headings.map((heading) => heading.depth));
  const tops = headings.filter((heading) => heading.depth === top);
  const titled = tops.length === 1 ? tops[0] : undefined;
  const title = (titled && inline(titled.tokens)) || fallbackTitle;
  const depth = titled ? Math.min(...headings.filter((one) => one !== titled).map((one) => one.depth)) : top;

  const sections: { name: string; blocks: Block[] }[] = [{ name: title, blocks: [] }];
  for (const token of tokens) {
    if (token === titled) continue;
    if (token.type === "heading" && token.depth === depth)
      sections.push({ name: inline(token.tokens ?? []), blocks: [] });
    else sections.at(-1)?.blocks.push(...blocksOf(token));
  }
  // What stands before the first heading is a section of its own, if anything does.
  return { title, sections: sections.filter((section, at) => at > 0 || section.blocks.length > 0) };
}

function blocksOf(token: Token): Block[] {
  if (token.type === "table") return [tableBlock(token as Tokens.Table)];
  const text = plain(token).trim();
  return text === "" ? [] : [{ text }];
}

function tableBlock(token: Tokens.Table): Block {
  const header = token.header.map((cell) => inline(cell.tokens));
  const rows = token.rows.map((row) => row.map((cell) => inline(cell.tokens)));
  return { text: [header, ...rows].map((row) => row.join(" | ")).join("\n"), table: { header, rows } };
}

/** One block as a reader without Markdown would write it. */
function plain(token: Token): string {
  switch (token.type) {
    case "paragraph":
    case "heading":
    case "text":
      return inline(token.tokens ?? [token]);
    case "list":
      return listText(token as Tokens.List);
    case "blockquote":
      return (token.tokens ?? []).map(plain).filter(Boolean).join("\n\n");
    case "code":
      return token.text;
    default:
      // Rules, blank lines, definitions and raw HTML say nothing to a reader of slides.
      return "";
  }
}

function listText(list: Tokens.List): string {
  const first = typeof list.start === "number" ? list.start : 1;
  return list.items
    .map((item, at) => {
      const sign = item.task ? (item.checked ? "☑" : "☐") : list.ordered ? `${first + at}.` : "•";
      const text = item.tokens.map(plain).filter(Boolean).join("\n");
      return `${sign} ${text.replaceAll("\n", "\n   ")}`;
    })
    .join("\n");
}

/** Text inside a block: emphasis and links become what they enclose. */
function inline(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === "br") return "\n";
      if (token.type === "html") return "";
      if ("tokens" in token && token.tokens) return inline(token.tokens);
      const text = "text" in token ? String(token.text) : "";
      // A line break inside a paragraph of Markdown is a space; one that is meant is a token of its own.
      return unescaped(text.replace(/\s*\n\s*/g, " "));
    })
    .join("");
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };
const unescaped = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name] ?? "");
