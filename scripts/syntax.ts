import { type Program, parseSync } from "oxc-parser";

/** A node of the syntax tree, with whatever its kind carries. */
export type Node = { type: string; start: number; [key: string]: unknown };

/** The parsed file, or a sentence about why it is none. */
export function parse(file: string, text: string) {
  const result = parseSync(file, text);
  const [error] = result.errors;
  if (error) throw new Error(`${file} could not be parsed: ${error.message}`);
  return result;
}

/** Every node inside, the outer before the inner; `into` says which to look into. */
export function* nodesIn(value: Program | unknown, into: (node: Node) => boolean = () => true): Generator<Node> {
  if (typeof value !== "object" || value === null) return;
  const node = value as Node;
  if (typeof node.type === "string") {
    if (!into(node)) return;
    yield node;
  }
  for (const inner of Object.values(value)) yield* nodesIn(inner, into);
}
