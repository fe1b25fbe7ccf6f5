import { type Node, nodesIn, parse } from "../syntax.ts";

/** The ids, like Q1, that stand in brackets in the titles of a file's tests. A skipped test proves nothing. */
export function quotedRules(file: string, text: string): Set<string> {
  const notSkipped = (node: Node) => !membersOfTestCall(node)?.some((name) => /^(skip|todo|fixme)$/.test(name));
  const calls = [...nodesIn(parse(file, text).program, notSkipped)].filter(membersOfTestCall);
  return idsIn(calls.flatMap(textsOf));
}

/** The ids in the sentences of conformance cases: the first argument of `check`, the second of `checkEach`. */
export function rulesOfCases(file: string, text: string): Set<string> {
  const calls = [...nodesIn(parse(file, text).program)].filter(({ type }) => type === "CallExpression");
  return idsIn(
    calls.flatMap(({ callee, arguments: given }) => {
      const at = ["check", "checkEach"].indexOf((callee as { name?: string }).name ?? "");
      const sentence = (given as Node[])[at];
      return sentence ? [...nodesIn(sentence)].flatMap(textOf) : [];
    }),
  );
}

/** For `test(…)`, `describe(…)`, also `test.each([…])(…)`: the members between the name and the call. */
function membersOfTestCall(node: Node): string[] | undefined {
  if (node.type !== "CallExpression") return undefined;
  const members: string[] = [];
  let callee = node.callee as Node;
  while (callee.type === "MemberExpression" || callee.type === "CallExpression") {
    if (callee.type === "MemberExpression") members.push((callee.property as { name?: string }).name ?? "");
    callee = (callee.type === "MemberExpression" ? callee.object : callee.callee) as Node;
  }
  return callee.type === "Identifier" && /^(test|it|describe)$/.test(callee.name as string) ? members : undefined;
}

/** The texts in a call and in the table before it, not those in the functions: they are no titles. */
function textsOf(call: Node): string[] {
  const parts = [...nodesIn(call, ({ type }) => !/Function/.test(type))];
  return parts.flatMap(textOf);
}

function textOf(node: Node): string[] {
  if (node.type === "Literal" && typeof node.value === "string") return [node.value];
  return node.type === "TemplateElement" ? [(node.value as { raw: string }).raw] : [];
}

const idsIn = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => [...text.matchAll(/\[([A-Z]+\d+[a-z]?)\]/g)].map(([, id = ""]) => id)));
