import { readdirSync } from "node:fs";
import { basename, resolve } from "node:path";
import { CreateError } from "./create-error.ts";

/** What may be in the folder already: a new repository. */
const IGNORED = new Set([".git", ".DS_Store", "Thumbs.db"]);

/** Throws unless the folder is new or empty. */
export function checkTarget(folder: string | undefined): void {
  if (folder === undefined) return;
  const path = resolve(folder);
  const names = namesIn(path).filter((name) => !IGNORED.has(name));
  if (names.length === 0) return;
  const more = names.length > 1 ? ` and ${names.length - 1} more` : "";
  throw new CreateError(
    `The folder ${path} is not empty: it has ${names[0]}${more}. Name another folder, or empty it.`,
  );
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    if (code === "ENOTDIR") throw new CreateError(`${path} is a file. Name a folder.`);
    throw new CreateError(`The folder ${path} cannot be read: ${message}`);
  }
}

/** A name for `package.json`, from the folder's: npm takes no capitals, spaces, or dots in front. */
export function packageNameFor(path: string): string {
  const name = basename(path)
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9._~-]+/g, "-")
    .replace(/^[._-]+/, "")
    .replace(/-+$/, "")
    .slice(0, 214);
  return name === "" || RESERVED.has(name) ? `${name || "holdfast"}-app` : name;
}

const RESERVED = new Set(["node_modules", "favicon.ico", "holdfast", "create-holdfast"]);
