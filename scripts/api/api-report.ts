import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, nodesIn } from "../syntax.ts";
import { type DeclarationFile, declarationPath, readDeclarationFile } from "./declaration-file.ts";

/** What a name stands for: something that a file of the package declares, or a name of another package. */
type Entity = Declared | { readonly from: string; readonly name: string };
interface Declared {
  readonly file: DeclarationFile;
  readonly name: string;
}

/** A constant and a type may share a name, and `export type` makes only one of them public. */
type Meaning = "type" | "value";

/**
 * The public names of a package with their types, as text for a review, from the declarations that `tsc` emits. Each
 * entry point lists its names. Then come the declarations that these use and that have no public name; not those that
 * only a `testing` entry uses, which reaches far inside. Of schemas of the wire only the names are shown, and of long
 * tables the keys. Docstrings, sentences, and the files in which something is declared are left out: if code moves or a
 * message changes, no line changes.
 */
export function apiReport(folder: string): string {
  const { name: packageName, exports, publishConfig } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = new Map<string, DeclarationFile>();
  const entries = Object.entries<{ types: string } | string>(exports).map(([path, target]) => {
    const file = typeof target === "string" ? undefined : read(join(folder, target.types));
    const names = sorted(file?.exports.keys() ?? []).map((name) => ({
      name,
      ...resolveExport(file as DeclarationFile, name),
    }));
    const title = `${join(packageName, path)}${path in publishConfig.exports ? "" : " (not published)"}`;
    return { title, file, names, isForTests: path.endsWith("/testing") };
  });

  const publicNames = new Map<string, string>();
  const publicMeanings = new Set<string>();
  const usedNames = new Set<string>();
  for (const { title, names } of entries)
    for (const { name, entity, typeOnly } of names) {
      if (!("file" in entity)) continue;
      const id = idOf(entity);
      for (const meaning of meaningsOf(entity, typeOnly)) publicMeanings.add(`${id} ${meaning}`);
      // Two entry points may give one name to different things.
      if (!publicNames.has(id)) publicNames.set(id, usedNames.has(name) ? `import("${title}").${name}` : name);
      usedNames.add(name);
    }

  const internalNames = new Map<string, string>();
  const internal = new Map<string, { readonly entity: Declared; readonly meaning: Meaning }>();
  const foreign = new Map<string, Set<string>>();
  const printedIn = new Map<string, string>();

  let listsInternal = true;
  const sections = entries.map(({ title, file, names, isForTests }) => {
    listsInternal = !isForTests;
    return [
      `## ${title}`,
      ...(file ? names.map((each) => printExport(title, each)) : ["A file."]),
      ...(file?.augmentations.map((node) => textOf(file, node)) ?? []),
    ];
  });
  listsInternal = true;
  const withoutName: [name: string, text: string][] = [];
  // Grows while it is read: what is printed may use more.
  for (const { entity, meaning } of internal.values())
    withoutName.push([nameFor(entity), print(entity, nameFor(entity), meaning)]);

  return `${[
    `# The public API of ${packageName}`,
    "`npm run api` writes this file. A line that changes is a change for everyone who uses the package.",
    ...sections.flat(),
    ...titled(
      "## Used by the above, without a public name",
      withoutName.sort(byName).map(([, text]) => text),
    ),
    ...titled(
      "## Used from other packages",
      sorted(foreign.keys()).map((from) => `${from}: ${sorted(foreign.get(from) ?? []).join(", ")}`),
    ),
  ].join("\n\n")}\n`;

  function read(path: string): DeclarationFile {
    const file = files.get(path) ?? readDeclarationFile(path);
    files.set(path, file);
    return file;
  }

  /** Follows an exported name to its declaration, over all re-exports. */
  function resolveExport(file: DeclarationFile, name: string): { entity: Entity; typeOnly: boolean } {
    const origin = file.exports.get(name);
    if (!origin) throw new Error(`${file.path} does not export ${name}.`);
    const { entity, typeOnly } =
      origin.from === undefined ? resolve(file, origin.name) : follow(file, origin.from, origin.name);
    return { entity, typeOnly: typeOnly || origin.typeOnly };
  }

  /** Follows a name that a file uses. */
  function resolve(file: DeclarationFile, name: string): { entity: Entity; typeOnly: boolean } {
    const origin = file.imports.get(name);
    if (origin?.from === undefined) return { entity: { file, name }, typeOnly: false };
    const { entity, typeOnly } = follow(file, origin.from, origin.name);
    return { entity, typeOnly: typeOnly || origin.typeOnly };
  }

  function follow(file: DeclarationFile, from: string, name: string): { entity: Entity; typeOnly: boolean } {
    const path = declarationPath(file.path, from);
    return path === undefined ? { entity: { from, name }, typeOnly: false } : resolveExport(read(path), name);
  }

  function printExport(title: string, { name, entity, typeOnly }: { name: string; entity: Entity; typeOnly: boolean }) {
    if (!("file" in entity)) {
      noteForeign(entity.from, entity.name);
      return `${name}: ${entity.name} of ${entity.from}`;
    }
    const meanings = meaningsOf(entity, typeOnly);
    const isBareClass = typeOnly && nodesOf(entity, "type").some(({ type }) => /^(Class|TSEnum)/.test(type));
    const key = [idOf(entity), name, ...meanings, isBareClass].join(" ");
    const before = printedIn.get(key);
    if (before !== undefined) return `${name}: as in ${before}`;
    printedIn.set(key, title);
    return (isBareClass ? "(type only) " : "") + meanings.map((meaning) => print(entity, name, meaning)).join("\n");
  }

  function print(entity: Declared, name: string, meaning: Meaning): string {
    return nodesOf(entity, meaning)
      .map((node) => {
        const short = shortened(entity.file, node);
        if (short !== undefined) return `const ${name}: ${short};`;
        const { start } = node.id as Node;
        const text = textOf(entity.file, node, [{ start, end: start + entity.name.length, text: name }]);
        return node.type === "VariableDeclarator" ? `const ${text};` : text;
      })
      .join("\n");
  }

  /** Without private members, and with the names that this report has for what is used. */
  function textOf(file: DeclarationFile, node: Node, edits: Edit[] = []): string {
    const parameters = new Set(
      [...nodesIn(node)].flatMap(({ type, name }) => (type === "TSTypeParameter" ? [(name as Node).name] : [])),
    );
    const into = (inner: Node): boolean => {
      const [start, end] = [inner.start, inner.end as number];
      if (isPrivate(inner) || isSentence(inner)) {
        edits.push({ start, end, text: isPrivate(inner) ? "" : '"…"' });
        return false;
      }
      return true;
    };
    for (const inner of nodesIn(node, into)) {
      if (inner.type === "TSImportType") edits.push(...importEdit(file, inner));
      for (const { identifier, meaning } of namesUsedBy(inner)) {
        const name = String(identifier.name);
        if (parameters.has(name) || !(file.imports.has(name) || file.declarations.has(name))) continue;
        const text = reach(resolve(file, name).entity, meaning);
        // Of a whole module that is imported, the name in the file stays.
        if (text !== "*") edits.push({ start: identifier.start, end: identifier.start + name.length, text });
      }
    }
    return tidy(withEdits(file.text, node.start, node.end as number, edits));
  }

  /** `import("./claim.ts").Claim` → `Claim` */
  function importEdit(file: DeclarationFile, node: Node): Edit[] {
    const from = String((node.source as Node).value);
    const name = leftmost(node.qualifier as Node | null);
    if (!name || declarationPath(file.path, from) === undefined) {
      noteForeign(from, String(name?.name ?? "*"));
      return [];
    }
    const end = name.start + String(name.name).length;
    return [{ start: node.start, end, text: reach(follow(file, from, String(name.name)).entity, "type") }];
  }

  /** The name that the report has for something that is used; what has no public name is listed. */
  function reach(entity: Entity, asked: Meaning): string {
    if (!("file" in entity)) {
      noteForeign(entity.from, entity.name);
      return entity.name;
    }
    const meanings = meaningsOf(entity, false);
    const meaning = meanings.includes(asked) ? asked : (meanings[0] ?? asked);
    const key = `${idOf(entity)} ${meaning}`;
    if (listsInternal && !publicMeanings.has(key)) internal.set(key, internal.get(key) ?? { entity, meaning });
    return nameFor(entity);
  }

  function nameFor(entity: Declared): string {
    const id = idOf(entity);
    const known = publicNames.get(id) ?? internalNames.get(id);
    if (known !== undefined) return known;
    let name = entity.name;
    for (let n = 2; usedNames.has(name); n++) name = `${entity.name}_${n}`;
    usedNames.add(name);
    internalNames.set(id, name);
    return name;
  }

  function noteForeign(from: string, name: string): void {
    foreign.set(from, (foreign.get(from) ?? new Set()).add(name));
  }
}

const idOf = ({ file, name }: Declared): string => `${file.path}#${name}`;
const byName = ([a]: [string, string], [b]: [string, string]): number => (a < b ? -1 : a > b ? 1 : 0);
const sorted = (names: Iterable<string>): string[] => [...names].sort();
const titled = (title: string, lines: readonly string[]): string[] => (lines.length > 0 ? [title, ...lines] : []);

function nodesOf({ file, name }: Declared, meaning: Meaning): readonly Node[] {
  const isType = ({ type }: Node) => /^(TSTypeAlias|TSInterface|TSEnum|TSModule|Class)/.test(type);
  return (file.declarations.get(name) ?? []).filter((node) => isType(node) === (meaning === "type"));
}

/** The value first, as it is declared. Of what is exported as a type, the type, as far as there is one. */
function meaningsOf(entity: Declared, typeOnly: boolean): readonly Meaning[] {
  const meanings = (["value", "type"] as const).filter((meaning) => nodesOf(entity, meaning).length > 0);
  return typeOnly && meanings.includes("type") ? ["type"] : meanings;
}

/** The identifiers by which a node uses something that is declared elsewhere. */
function namesUsedBy(node: Node): readonly { identifier: Node; meaning: Meaning }[] {
  const used = (name: unknown, meaning: Meaning) => {
    const identifier = leftmost(name as Node | null);
    return identifier ? [{ identifier, meaning }] : [];
  };
  switch (node.type) {
    case "TSTypeReference":
      return used(node.typeName, "type");
    case "TSTypeQuery":
      return used(node.exprName, "value");
    case "TSInterfaceHeritage":
    case "TSClassImplements":
      return used(node.expression, "type");
    case "ClassDeclaration":
      return used(node.superClass, "value");
    case "TSPropertySignature":
    case "TSMethodSignature":
    case "PropertyDefinition":
    case "MethodDefinition":
      return node.computed ? used(node.key, "value") : [];
    default:
      return [];
  }
}

/** `a` of `a.b.c`. */
function leftmost(node: Node | null): Node | undefined {
  switch (node?.type) {
    case "Identifier":
      return node;
    case "TSQualifiedName":
      return leftmost(node.left as Node);
    case "MemberExpression":
      return leftmost(node.object as Node);
    default:
      return undefined;
  }
}

const isPrivate = ({ accessibility, key }: Node): boolean =>
  accessibility === "private" || (key as Node | undefined)?.type === "PrivateIdentifier";

/** Words for people: codes and names have no spaces. */
const isSentence = ({ type, literal }: Node): boolean =>
  type === "TSLiteralType" && String((literal as Node).value).includes(" ");

const annotationOf = (node: Node): Node | undefined =>
  ((node.id as Node).typeAnnotation as Node | undefined)?.typeAnnotation as Node | undefined;

/** The longest table that is shown with what its rows say. */
const MOST_LINES = 30;

/** How a constant is shown that would be pages of its own. Undefined: as it is declared. */
function shortened(file: DeclarationFile, node: Node): string | undefined {
  const annotation = node.type === "VariableDeclarator" ? annotationOf(node) : undefined;
  if (!annotation) return undefined;
  const text = file.text.slice(annotation.start, annotation.end as number);
  // A hash of all schemas of the wire is in a test (`scripts/wire`).
  if (/\bTObject</.test(text)) return "schema";
  if (annotation.type !== "TSTypeLiteral" || text.split("\n").length <= MOST_LINES) return undefined;
  const names = (annotation.members as Node[]).map(({ key }) => {
    const { name, value } = key as { name?: string; value?: string };
    return `    ${name ?? JSON.stringify(value)}: …;`;
  });
  return `{\n${names.join("\n")}\n}`;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function withEdits(text: string, from: number, to: number, edits: readonly Edit[]): string {
  let result = "";
  let at = from;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at, to);
}

/** Without the blank lines and spaces that comments and private members leave behind. */
const tidy = (text: string): string =>
  text
    .replace(/^declare /, "")
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n");
