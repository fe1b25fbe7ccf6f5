import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";

/** Directories of embedded Postgres servers, and copies of them, as an operator makes them. */
export function newDirectory(): { readonly dataDir: string; remove(): void } {
  const dataDir = mkdtempSync(join(tmpdir(), "holdfast-r-"));
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true, force: true }) };
}

const dataOf = (dataDir: string) => join(dataDir, "postgres", "data");

/** The files of a Postgres that does not run: a cold copy. */
export function copyFiles(from: string, to: string): void {
  rmSync(join(to, "postgres"), { recursive: true, force: true });
  // Of one that runs, files may go while they are copied: that is no failure of a base backup.
  spawnSync("cp", ["-a", join(from, "postgres"), to]);
  for (const name of ["socket", "lock", "data/postmaster.pid"])
    rmSync(join(to, "postgres", name), { recursive: true, force: true });
}

/** A base backup of a Postgres that runs. `signal`: as what it starts. */
export async function copyRunning(
  url: string,
  from: string,
  to: string,
  signal: "standby.signal" | "recovery.signal",
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("select pg_backup_start('copy', true)");
  copyFiles(from, to);
  const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
  await client.end();
  // What was written until the backup ended belongs to it.
  execFileSync("cp", ["-a", join(dataOf(from), "pg_wal"), dataOf(to)]);
  own(to, "backup_label", rows[0]?.labelfile ?? "");
  own(to, signal, "");
}

/** A file of Postgres' own. */
function own(dataDir: string, name: string, text: string): void {
  const file = join(dataOf(dataDir), name);
  writeFileSync(file, text);
  const { uid, gid } = statSync(dataOf(dataDir));
  chownSync(file, uid, gid);
}

/** As `pg_ctl promote` does it. */
export function promote(dataDir: string): void {
  own(dataDir, "promote", "");
  process.kill(postmasterOf(dataDir), "SIGUSR1");
}

export const hasStarted = (dataDir: string) => existsSync(join(dataOf(dataDir), "postmaster.pid"));

const postmasterOf = (dataDir: string) =>
  Number(readFileSync(join(dataOf(dataDir), "postmaster.pid"), "utf8").split("\n")[0]);

/** A way to a Postgres that can be cut: what the standby reads is behind from then on. */
export async function cuttableWay(url: string): Promise<{ readonly host: string; cut(): void }> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-w-"));
  chmodSync(directory, 0o755);
  const path = join(directory, ".s.PGSQL.5432");
  const target = join(decodeURIComponent(new URL(url).hostname), ".s.PGSQL.5432");
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((near) => {
    const far = connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => [near, far].map((one) => one.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  chmodSync(path, 0o777);
  return {
    host: directory,
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
