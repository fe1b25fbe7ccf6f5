import { type Node, nodesIn, parse } from "../syntax.ts";
import { keptNames, retiredNames, retiredProse } from "./retired.ts";

/** Every retired word in the names that a source file uses, one line each. */
export function judgeNames(file: string, text: string): string[] {
  const found = new Map<string, string>();
  const isKept = ({ type, start, end }: Node) =>
    type === "MemberExpression" && keptNames.has(text.slice(start, end as number));
  for (const node of nodesIn(parse(file, text).program, (inner) => !isKept(inner))) {
    const name = nameOf(node);
    for (const part of name && !keptNames.has(name) ? partsOf(name) : []) {
      const instead = Object.hasOwn(retiredNames, part) ? retiredNames[part] : undefined;
      if (instead !== undefined) found.set(`${name}`, `${file}: the name "${name}" has "${part}": say ${instead}`);
    }
  }
  return [...found.values()];
}

/** The same of a page's prose; code in it is not looked at. */
export function judgeProse(file: string, text: string): string[] {
  const prose = text.replace(/```.*?```|`[^`\n]*`|<!--.*?-->/gs, (code) => code.replace(/[^\n]/g, " "));
  return prose.split("\n").flatMap((line, at) =>
    (line.toLowerCase().match(/[a-z]+/g) ?? []).flatMap((word) => {
      const instead = Object.hasOwn(retiredProse, word) ? retiredProse[word] : undefined;
      return instead === undefined ? [] : [`${file}:${at + 1} says "${word}": ${instead}`];
    }),
  );
}

const nameOf = (node: Node): string | undefined =>
  (node.type === "Identifier" || node.type === "PrivateIdentifier") && typeof node.name === "string"
    ? node.name
    : undefined;

/** `myTenant_ID` → my, tenant, id. */
const partsOf = (name: string): string[] =>
  (name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((part) => part.toLowerCase());
