import { type Node, nodesIn, parse } from "../syntax.ts";

/** The file that a test imports by this name, with its text; undefined if it is no code of ours for tests. */
export type ReadSource = (from: string, name: string) => { file: string; text: string } | undefined;

/** Functions that fail a test by themselves. */
const ALWAYS = ["expect", "assert", "until", "expectTypeOf", "assertType"];

/**
 * The names of functions and methods in a file whose call can fail a test: those of the test libraries, functions that call
 * one of these or throw, and such functions that the file imports from other code for tests.
 */
export function assertingNames(
  file: string,
  text: string,
  read: ReadSource,
  known: KnownNames = new Map(),
): Set<string> {
  const before = known.get(file);
  if (before) return before;
  const names = new Set(ALWAYS);
  known.set(file, names);
  const nodes = [...nodesIn(parse(file, text).program)];

  for (const node of nodes.filter(({ type }) => type === "ImportDeclaration")) {
    const specifiers = node.specifiers as { local: { name: string }; imported?: { name: string } }[];
    const from = (node.source as { value: string }).value;
    if (from === "fast-check") for (const { local } of specifiers) names.add(local.name);
    const source = read(file, from);
    // Methods of what it imports are called by their own names.
    if (source) for (const name of assertingNames(source.file, source.text, read, known)) names.add(name);
  }

  // Functions may call those that stand below them: until no name is added.
  const functions = nodes.flatMap(functionsOf);
  for (let size = -1; size < names.size; ) {
    size = names.size;
    // Methods with everyday names throw in many places: only those that expect something count.
    for (const { name, body, isMethod } of functions)
      if (!names.has(name) && [...nodesIn(body, isNoMethod)].some((inner) => canFail(inner, names, !isMethod)))
        names.add(name);
  }
  return names;
}

/** What is known of the files that were read before. */
export type KnownNames = Map<string, Set<string>>;

/** Whether this node calls one of the names, as a function or as a method, or throws. */
export function canFail(node: Node, names: ReadonlySet<string>, withThrow = true): boolean {
  if (node.type === "ThrowStatement") return withThrow;
  if (node.type !== "CallExpression") return false;
  let callee = node.callee as Node;
  for (; callee.type !== "Identifier"; callee = (callee.object ?? callee.callee) as Node) {
    const { name } = (callee.property ?? {}) as { name?: string };
    if (name !== undefined && names.has(name)) return true;
    if (!callee.object && !callee.callee) return false;
  }
  return names.has(callee.name as string);
}

/** What a made object can do is not what making it does. */
const isNoMethod = ({ type, value }: Node): boolean => !(type === "Property" && /Function/.test((value as Node).type));

/** The function that a node declares: by name, in a constant, or as a method. */
function functionsOf(node: Node): { name: string; body: unknown; isMethod: boolean }[] {
  const isMethod = node.type === "Property" || node.type === "MethodDefinition";
  const named = (key: unknown, value: unknown) => {
    const { type, name } = (key ?? {}) as Node;
    return type === "Identifier" && /Function/.test((value as Node | null)?.type ?? "")
      ? [{ name: name as string, body: (value as Node).body, isMethod }]
      : [];
  };
  if (node.type === "FunctionDeclaration") return named(node.id, node);
  if (node.type === "VariableDeclarator") return named(node.id, node.init);
  return isMethod ? named(node.key, node.value) : [];
}
