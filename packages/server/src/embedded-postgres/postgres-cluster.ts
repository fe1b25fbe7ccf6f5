import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { commandAs, type PostgresUser, type SystemUser } from "./postgres-user.ts";

/** The only database user, who owns everything in the database. */
export const databaseUser = "holdfast";

/** Creates the private directory for all Postgres files. Returns its real path. */
export function prepareHome(dataDir: string, user: PostgresUser): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const home = join(realpathSync(dataDir), "postgres");
  mkdirSync(home, { recursive: true });
  const { uid } = lstatSync(home);
  if (uid !== (process.getuid?.() ?? uid)) {
    throw new EmbeddedPostgresError(
      `${home} belongs to another user, who could read and change its contents. Remove it first.`,
    );
  }
  if (user.kind !== "system-user") {
    chmodSync(home, 0o700);
    return home;
  }
  // The system user has to pass through to its own directories inside. It cannot list or read anything on the way.
  chmodSync(home, 0o711);
  chmodSync(dataDir, statSync(dataDir).mode | 0o011);
  refuseUnreachable(home, user);
  return home;
}

/** The data directory and the password, created at the first start. */
export function prepareCluster(home: string, user: PostgresUser, binaries: PostgresBinaries, durable: boolean) {
  const data = join(home, "data");
  const passwordFile = join(home, "password");
  if (!existsSync(data)) createCluster(home, user, binaries, durable);
  refuseOtherVersion(data, binaries);
  if (!existsSync(passwordFile)) {
    throw new EmbeddedPostgresError(
      `${passwordFile} is missing, and the database beside it cannot be opened without it. Restore the file.`,
    );
  }
  return { data, password: readFileSync(passwordFile, "utf8").trim() };
}

/** Created under another name and renamed once complete, so that `data` is never incomplete. */
function createCluster(home: string, user: PostgresUser, binaries: PostgresBinaries, durable: boolean): void {
  const unfinished = join(home, "data.unfinished");
  const passwordForInitdb = join(home, "password.unfinished");
  rmSync(unfinished, { recursive: true, force: true });
  const password = randomBytes(24).toString("base64url");
  for (const file of [join(home, "password"), passwordForInitdb]) {
    rmSync(file, { force: true });
    writeFileSync(file, `${password}\n`, { mode: 0o600 });
  }
  mkdirSync(unfinished, { mode: 0o700 });
  if (user.kind === "system-user") {
    for (const path of [unfinished, passwordForInitdb]) chownSync(path, user.uid, user.gid);
  }
  const command = commandAs(user, binaries.initdb, [
    ...["-D", unfinished, "-U", databaseUser, `--pwfile=${passwordForInitdb}`],
    // The C locale compares bytes: the order is the same on every machine, and an update of the system's locales breaks
    // no index.
    ...["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"],
    ...(durable ? [] : ["--no-sync"]),
  ]);
  const { status, error, stderr } = spawnSync(command.file, command.args, {
    ...command.options,
    cwd: home,
    env: postgresEnvironment(),
    encoding: "utf8",
  });
  rmSync(passwordForInitdb, { force: true });
  if (status !== 0) {
    throw new EmbeddedPostgresError(
      `The database in ${home} could not be created:  ${(error?.message ?? stderr).trim().replaceAll("\n", " ")}`,
    );
  }
  renameSync(unfinished, join(home, "data"));
}

/** Postgres gets none of our environment variables: they contain keys, and other programs may run as its user. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  const kept = ["PATH", "TMPDIR", "SystemRoot", "SYSTEMROOT", "TEMP", "TMP"];
  const own = kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(own), LC_ALL: "C", TZ: "UTC" };
}

function refuseOtherVersion(data: string, binaries: PostgresBinaries): void {
  const written = readFileSync(join(data, "PG_VERSION"), "utf8").trim();
  const ours = binaries.version.split(".")[0];
  if (written === ours) return;
  throw new EmbeddedPostgresError(
    `${data} was written by Postgres ${written}, which this Holdfast's Postgres ${ours} cannot read. ` +
      "Start the earlier Holdfast, dump the database with pg_dump, and restore it into a new data directory.",
  );
}

function refuseUnreachable(home: string, user: SystemUser): void {
  const { status } = spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", home], { uid: user.uid, gid: user.gid });
  if (status === 0) return;
  throw new EmbeddedPostgresError(
    `Postgres cannot run as root. It would run as the user ${user.name}, who cannot access ${home}. ` +
      "Set HOLDFAST_DATA_DIR to a directory that this user can access, start Holdfast as another user, or set DATABASE_URL.",
  );
}
