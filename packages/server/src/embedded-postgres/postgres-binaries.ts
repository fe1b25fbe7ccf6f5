import { spawnSync } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { commandAs, type PostgresUser } from "./postgres-user.ts";

export type PostgresBinaries = { initdb: string; postgres: string; version: string };

/**
 * The Postgres binaries that an npm package ships for this platform, in a directory where the given user can run them.
 */
export async function findPostgresBinaries(
  user: PostgresUser,
  platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`,
): Promise<PostgresBinaries> {
  const shipped = await shippedDirectory(platform);
  const linked = linkLibraries(shipped);
  const inPlace = linked ? tryBinaries(shipped, user) : undefined;
  if (inPlace) return inPlace;
  // Another user may have no access to our node_modules (under /root, for example), and a read-only one cannot take the
  // links.
  const copied = user.kind === "system-user" || !linked ? tryBinaries(copyForOthers(shipped), user) : undefined;
  if (copied) return copied;
  throw new EmbeddedPostgresError(noneFits(platform));
}

/** npm installs only the package for this platform. On an unsupported platform the import fails. */
async function shippedDirectory(platform: string): Promise<string> {
  try {
    const { postgres } = (await import(`@embedded-postgres/${platform}`)) as { postgres: string };
    return dirname(dirname(postgres));
  } catch {
    throw new EmbeddedPostgresError(noneFits(platform));
  }
}

const noneFits = (platform: string) =>
  `Holdfast has no bundled Postgres for this machine (${platform}). ` +
  "Set DATABASE_URL to a Postgres of your own, version 15 or later.";

/**
 * Creates the library links that the package's install script would create: package managers no longer run such scripts
 * by default. Returns false if the directory is read-only.
 */
function linkLibraries(native: string): boolean {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(native, target.replace(/^native\//, "")));
    } catch (error) {
      // Another process may be creating the same links now.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
    }
  }
  return true;
}

/** Undefined if they do not run here: another libc, or a directory that this user cannot enter. */
function tryBinaries(native: string, user: PostgresUser): PostgresBinaries | undefined {
  const ending = process.platform === "win32" ? ".exe" : "";
  const [initdb, postgres] = ["initdb", "postgres"].map((name) => join(native, "bin", name + ending)) as [
    string,
    string,
  ];
  const { file, args, options } = commandAs(user, postgres, ["--version"]);
  const { status, stdout } = spawnSync(file, args, { ...options, cwd: tmpdir(), encoding: "utf8" });
  const version = status === 0 ? /\d+(\.\d+)*/.exec(stdout)?.[0] : undefined;
  return version ? { initdb, postgres, version } : undefined;
}

/**
 * A copy that every user may run but only we may change. Its path is predictable, so an existing copy is used only if
 * we own it: otherwise we might run another user's program.
 */
function copyForOthers(native: string): string {
  const packageVersion = (JSON.parse(readFileSync(join(native, "..", "package.json"), "utf8")) as { version: string })
    .version;
  const shared = join(tmpdir(), `holdfast-postgres-${packageVersion}-${process.getuid?.() ?? "user"}`);
  if (isOurs(shared)) return shared;
  const copy = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  linkLibraries(copy);
  spawnSync("chmod", ["-R", "a+rX,go-w", copy]);
  try {
    renameSync(copy, shared);
    return shared;
  } catch {
    // Another process created the copy first. If it belongs to us, use it; else keep this one private.
    if (!isOurs(shared)) return copy;
    rmSync(copy, { recursive: true, force: true });
    return shared;
  }
}

function isOurs(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry?.isDirectory() === true && entry.uid === process.getuid?.() && (entry.mode & 0o022) === 0;
}
