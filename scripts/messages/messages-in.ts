import { type Node, nodesIn, parse } from "../syntax.ts";

/** The sentences in a file's texts and templates, for people: what errors, refusals, logs and programs say. `…` is filled in. */
export function messagesIn(file: string, text: string): string[] {
  const found = new Set<string>();
  for (const node of nodesIn(parse(file, text).program)) {
    const said = textOf(node)?.trim();
    if (said !== undefined && isSentence(said)) found.add(said);
  }
  return [...found];
}

function textOf(node: Node): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("…");
}

/** Four words or more, with a capital or what is filled in at the beginning, and an end. */
const isSentence = (text: string): boolean =>
  /^[\p{Lu}"'`…]/u.test(text) && /[.!?]$/.test(text) && text.split(/\s+/).length >= 4 && !/\n|\{.*;/.test(text);
