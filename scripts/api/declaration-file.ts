import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, parse } from "../syntax.ts";

/** Where a name comes from: a name of another file, or of the same one when there is no `from`. */
export interface Origin {
  readonly from?: string;
  readonly name: string;
  /** `export type`, or imported so: the name is there, its value is not. */
  readonly typeOnly: boolean;
}

/** A file that `tsc` emitted, with its names. */
export interface DeclarationFile {
  readonly path: string;
  /** With spaces in the place of comments. */
  readonly text: string;
  /** Local name → its declarations: overloads, or a value and a type of one name. */
  readonly declarations: ReadonlyMap<string, readonly Node[]>;
  readonly imports: ReadonlyMap<string, Origin>;
  readonly exports: ReadonlyMap<string, Origin>;
  /** What the file adds to other modules or to the global scope. */
  readonly augmentations: readonly Node[];
}

export function readDeclarationFile(path: string): DeclarationFile {
  const text = readFileSync(path, "utf8");
  const { program, comments } = parse(path, text);
  const declarations = new Map<string, Node[]>();
  const imports = new Map<string, Origin>();
  const exports = new Map<string, Origin>();
  const augmentations: Node[] = [];

  function declare(node: Node, isExported: boolean): void {
    const named = node.type === "VariableDeclaration" ? (node.declarations as Node[]) : [node];
    for (const each of named) {
      const name = nameOf(each.id);
      declarations.set(name, [...(declarations.get(name) ?? []), each]);
      if (isExported) exports.set(name, { name, typeOnly: false });
    }
  }

  for (const statement of program.body as unknown as Node[])
    switch (statement.type) {
      case "ImportDeclaration":
        for (const specifier of statement.specifiers as Node[])
          imports.set(nameOf(specifier.local), {
            from: sourceOf(statement) as string,
            name: specifier.type === "ImportSpecifier" ? nameOf(specifier.imported) : "*",
            typeOnly: isType(statement.importKind) || isType(specifier.importKind),
          });
        break;
      case "ExportNamedDeclaration": {
        if (statement.declaration) declare(statement.declaration as Node, true);
        const from = sourceOf(statement);
        for (const specifier of statement.specifiers as Node[])
          exports.set(nameOf(specifier.exported), {
            ...(from === undefined ? {} : { from }),
            name: nameOf(specifier.local),
            typeOnly: isType(statement.exportKind) || isType(specifier.exportKind),
          });
        break;
      }
      case "ExportAllDeclaration":
      case "ExportDefaultDeclaration":
        throw new Error(`${path}: the public names are listed one by one, without "export *" and "export default".`);
      case "TSModuleDeclaration":
        if (statement.global === true || (statement.id as Node).type === "Literal") augmentations.push(statement);
        else declare(statement, false);
        break;
      default:
        declare(statement, false);
    }
  return { path, text: blanked(text, comments), declarations, imports, exports, augmentations };
}

/** `./a.ts` as it stands in a declaration file → the declaration file of that; undefined: it is of another package. */
export function declarationPath(importer: string, from: string): string | undefined {
  if (!from.startsWith(".")) return undefined;
  const path = join(importer, "..", from.replace(/\.[jt]sx?$/, ".d.ts"));
  if (!existsSync(path)) throw new Error(`${importer} imports ${from}, which is not there. Run tsc -b first.`);
  return path;
}

const isType = (kind: unknown) => kind === "type";
const nameOf = (identifier: unknown): string => {
  const { name, value } = identifier as Node;
  return String(name ?? value);
};
const sourceOf = (statement: Node): string | undefined =>
  statement.source ? String((statement.source as Node).value) : undefined;

const blanked = (text: string, comments: readonly { start: number; end: number }[]): string =>
  comments.reduce(
    (rest, { start, end }) => rest.slice(0, start) + rest.slice(start, end).replace(/[^\n]/g, " ") + rest.slice(end),
    text,
  );
