import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** `find` has to be in the file exactly once: a patch that no longer fits is no proof. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface PatchedSources {
  /** Where the copy lies; in it every file has its own path. */
  readonly folder: string;
  /** The server's program. */
  readonly main: string;
  forget(): void;
}

/** A copy of the sources of the server and the SDK's protocol, with these edits. */
export function patchSources(edits: readonly Edit[]): PatchedSources {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mutant-"));
  const forget = () => rmSync(folder, { recursive: true, force: true });
  try {
    copySources(folder);
    for (const edit of edits) {
      const path = join(folder, edit.file);
      writeFileSync(path, edited(readFileSync(path, "utf8"), edit));
    }
    return { folder, main: join(folder, "packages/server/src/main.ts"), forget };
  } catch (error) {
    forget();
    throw error;
  }
}

/** The text with the edit; a patch has to fit exactly once. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`${file} has "${find}" ${parts.length - 1} times, not once: mend the mutant.`);
  return parts.join(replace);
}

const MADE = new Set(["node_modules", "dist"]);

/** Only our own sources are copied. Other packages are linked to where they are; `@holdfast/sdk` leads to the copy. */
function copySources(folder: string): void {
  const from = (path: string) => join(ROOT, "packages", path);
  const to = (path: string) => join(folder, "packages", path);
  const isOurs = (path: string) => !MADE.has(basename(path));
  for (const path of ["server", "sdk"]) cpSync(from(path), to(path), { recursive: true, filter: isOurs });
  symlinkSync(from("sdk/node_modules"), to("sdk/node_modules"), "dir");
  // The simulation runs the copy of the client.
  for (const path of ["qa/simulation/model", "qa/support/seeded-random.ts"])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: isOurs });
  mkdirSync(to("server/node_modules/@holdfast"), { recursive: true });
  symlinkSync(to("sdk"), to("server/node_modules/@holdfast/sdk"), "dir");
  for (const name of readdirSync(from("server/node_modules")))
    if (name !== "@holdfast" && !name.startsWith("."))
      symlinkSync(from(`server/node_modules/${name}`), to(`server/node_modules/${name}`), "dir");
}
