import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { CreateError } from "./create-error.ts";
import { checkTarget, packageNameFor } from "./target-folder.ts";
import type { Template } from "./templates.ts";

/** Next to `src` in the workspace and next to `dist` when published. */
const TEMPLATES = fileURLToPath(new URL("../templates", import.meta.url));
/** Files that every template gets. */
const SHARED = "shared";
/** What tools leave in a template that was tried where it is. */
const MADE_BY_TOOLS = new Set(["node_modules", ".next", ".holdfast", "dist", "next-env.d.ts", "agent.db"]);

/** Writes the template's files into a folder that is new or empty. Returns their paths in it. */
export function writeTemplate(folder: string, template: Template, version: string): string[] {
  checkTarget(folder);
  try {
    return [SHARED, template].flatMap((name) => copyAll(join(TEMPLATES, name), folder, version)).sort();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CreateError(`The folder ${folder} could not be written: ${message}`);
  }
}

function copyAll(from: string, folder: string, version: string): string[] {
  return filesBelow(from).map((file) => {
    const name = relative(from, file).split(sep).map(nameInApp).join(sep);
    const target = join(folder, name);
    mkdirSync(dirname(target), { recursive: true });
    if (name === "package.json") writeFileSync(target, manifestOf(readFileSync(file, "utf8"), folder, version));
    else copyFileSync(file, target);
    return name;
  });
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !MADE_BY_TOOLS.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });

/** npm publishes no file named `.gitignore`, and git follows one: in the templates it is `_gitignore`. */
const nameInApp = (name: string): string => name.replace(/^_(?=gitignore$|env$)/, ".");

/** The packages of Holdfast, as `workspace:^` in the template, get the version of this release. */
const manifestOf = (text: string, folder: string, version: string): string =>
  text
    .replace(/^( {2}"name": )".*"/m, `$1${JSON.stringify(packageNameFor(folder))}`)
    .replaceAll('"workspace:^"', JSON.stringify(`^${version}`));
