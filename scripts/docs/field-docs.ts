import { type Node, parse } from "../syntax.ts";

/** What the docstrings of one schema say: under "" of itself, else of a field, inner ones with dots between. */
export type Docs = Record<string, string>;

interface File {
  readonly docs: ReadonlyMap<number, string>;
  readonly constants: ReadonlyMap<string, { readonly at: number; readonly value: Node }>;
  readonly exported: readonly string[];
}

/** The docstrings of every schema that a file of the protocol exports: name → path of the field → text. */
export function fieldDocs(file: string, text: string): Record<string, Docs> {
  const source = readFile(file, text);
  const found = source.exported.map((name): [string, Docs] => {
    const { at, value } = source.constants.get(name) as { at: number; value: Node };
    const docs: Docs = {};
    const own = source.docs.get(at);
    if (own !== undefined) docs[""] = own;
    collect(source, value, "", docs);
    return [name, docs];
  });
  return Object.fromEntries(found.filter(([, docs]) => Object.keys(docs).length > 0));
}

/** Docstrings by the offset of what they stand before; the file's constants, and which of them it exports. */
function readFile(file: string, text: string): File {
  const { program, comments } = parse(file, text);
  const docs = new Map<number, string>();
  for (const { type, value, end } of comments)
    if (type === "Block" && value.startsWith("*"))
      docs.set(end + (/^\s*/.exec(text.slice(end))?.[0].length ?? 0), said(value));
  const constants: [string, { at: number; value: Node }][] = [];
  const exported: string[] = [];
  for (const statement of program.body as unknown as Node[]) {
    const declaration = (
      statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    ) as Node | null;
    if (declaration?.type !== "VariableDeclaration") continue;
    for (const { id, init } of declaration.declarations as { id: Node; init: Node | null }[]) {
      if (id.type !== "Identifier" || !init || !makesSchema(init)) continue;
      constants.push([id.name as string, { at: statement.start, value: init }]);
      if (statement !== declaration && isSchema(init)) exported.push(id.name as string);
    }
  }
  return { docs, constants: new Map(constants), exported };
}

/** `Type.…(…)`, or a function that returns one. */
function isSchema({ type, callee, body }: Node): boolean {
  if (type === "ArrowFunctionExpression") return isSchema(body as Node);
  return type === "CallExpression" && ((callee as Node).object as Node | undefined)?.name === "Type";
}

const makesSchema = ({ type }: Node): boolean =>
  type === "CallExpression" || type === "ObjectExpression" || type === "ArrowFunctionExpression";

/** Goes through an expression as its schema is built: wrappers and lists count as what is in them. */
function collect(source: File, node: Node, path: string, docs: Docs): void {
  switch (node.type) {
    case "CallExpression":
      return collect(source, (node.arguments as Node[])[0] ?? { type: "", start: 0 }, path, docs);
    case "ArrowFunctionExpression":
      return collect(source, node.body as Node, path, docs);
    case "ArrayExpression":
      for (const element of node.elements as (Node | null)[]) if (element) collect(source, element, path, docs);
      return;
    case "Identifier": {
      const constant = source.constants.get(node.name as string);
      // What is exported speaks for itself, under its own name.
      if (!constant || source.exported.includes(node.name as string)) return;
      const own = source.docs.get(constant.at);
      if (own !== undefined && path !== "") docs[path] ??= own;
      return collect(source, constant.value, path, docs);
    }
    case "ObjectExpression":
      for (const property of node.properties as Node[]) collectProperty(source, property, path, docs);
  }
}

function collectProperty(source: File, property: Node, path: string, docs: Docs): void {
  if (property.type === "SpreadElement") return collect(source, property.argument as Node, path, docs);
  const key = property.key as Node;
  const name = String(key.name ?? key.value);
  const inner = path === "" ? name : `${path}.${name}`;
  const own = source.docs.get(property.start);
  if (own !== undefined) docs[inner] = own;
  collect(source, property.value as Node, inner, docs);
}

/** The text of a docstring without its stars, on one line. */
const said = (comment: string): string =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*+ ?/, "").trim())
    .join(" ")
    .trim();
