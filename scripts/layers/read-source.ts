import { posix } from "node:path";
import { type Node, nodesIn, parse } from "../syntax.ts";

export type Import = { to: string; typeOnly: boolean; line: number };
export type Source = { file: string; imports: Import[]; clocksAndRandom: { says: string; line: number }[] };

/** What a file imports, own files by their path in the project; and where it asks for the time or for chance. */
export function readSource(file: string, text: string): Source {
  const { module, program } = parse(file, text);
  const lineOf = (offset: number) => text.slice(0, offset).split("\n").length;
  const found = (request: string, typeOnly: boolean, offset: number): Import => ({
    to: request.startsWith(".") ? posix.join(posix.dirname(file), request) : request,
    typeOnly,
    line: lineOf(offset),
  });
  const imports = [
    ...module.staticImports.map(({ moduleRequest, entries, start }) =>
      found(moduleRequest.value, entries.length > 0 && entries.every(({ isType }) => isType), start),
    ),
    ...module.staticExports.flatMap(({ entries, start }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [found(moduleRequest.value, isType, start)] : [],
      ),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest, start }) => {
      // A computed name cannot be judged; quotes around a plain one are part of the text.
      const name = /^(["'`])([^$]+)\1$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[2];
      return name ? [found(name, false, start)] : [];
    }),
  ];
  const clocksAndRandom = [...nodesIn(program)].flatMap((node) => {
    const says = askedFor(node);
    return says ? [{ says, line: lineOf(node.start) }] : [];
  });
  return { file, imports, clocksAndRandom };
}

function askedFor(node: Node): string | undefined {
  const name = (part: unknown) => (part as { name?: string } | undefined)?.name;
  if (node.type === "MemberExpression") {
    const member = `${name(node.object)}.${name(node.property)}`;
    return member === "Date.now" || member === "Math.random" ? member : undefined;
  }
  // `new Date(text)` only reads what it is given.
  const dateWithout = name(node.callee) === "Date" && (node.arguments as unknown[]).length === 0;
  if (node.type === "NewExpression" && dateWithout) return "new Date()";
  return node.type === "CallExpression" && name(node.callee) === "Date" ? "Date()" : undefined;
}
