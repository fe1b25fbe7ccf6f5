import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { lockDirectory } from "./directory-lock.ts";
import { choosePostgresAddress, runningAddress } from "./postgres-address.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";
import { databaseUser, postgresEnvironment, prepareCluster, prepareHome } from "./postgres-cluster.ts";
import { endLeftovers } from "./postgres-leftovers.ts";
import { type EmbeddedLog, endsWithUs, keepPostgresRunning } from "./postgres-process.ts";
import { choosePostgresUser, commandAs, type PostgresUser } from "./postgres-user.ts";

export type { EmbeddedLog } from "./postgres-process.ts";

export type EmbeddedOptions = {
  log?: EmbeddedLog;
  /** Postgres settings by name; they win over ours. */
  settings?: Record<string, string | number | boolean>;
  /** As whom Postgres runs; found out when absent. */
  user?: PostgresUser;
} & ({ dataDir: string } | { throwaway: true });

export type EmbeddedPostgres = {
  /** Contains the password: never log it. */
  readonly url: string;
  /** Another one after Postgres had to be started again. */
  readonly pid: number;
  /** An orderly stop; a throwaway's files are removed. */
  stop(): Promise<void>;
};

/**
 * A real Postgres of our own, from binaries that an npm package ships. What it keeps:
 *
 *   <dataDir>/postgres/   0700
 *     lock                held by the server that runs here
 *     password            0600
 *     socket/             0700, the only way in
 *     data/               what initdb made
 *
 * Two walls keep others out. The socket lies in a directory that only we may enter, so neither other users nor
 * containers that share our network reach it. And every way in asks for the password: it is the only wall where the
 * address has to be 127.0.0.1, and it holds where Postgres has to run as `nobody`, as whom strangers may run too.
 * Asking the socket who is there instead (`peer`) would be wrong in a user namespace, where every stranger is shown
 * as `nobody`, and so are we.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const throwaway = "throwaway" in options;
  const log = options.log ?? silent;
  const user = options.user ?? choosePostgresUser();
  const binaries = await findPostgresBinaries(user);
  const dataDir = throwaway ? mkdtempSync(join(tmpdir(), "holdfast-")) : resolve(options.dataDir);
  const closing: (() => void)[] = throwaway ? [() => rmSync(dataDir, { recursive: true, force: true })] : [];
  const close = () => {
    for (const step of closing.reverse()) step();
  };
  try {
    const home = prepareHome(dataDir, user);
    const lock = await lockDirectory(join(home, "lock"));
    closing.push(lock.release);
    const { data, password } = prepareCluster(home, user, binaries, !throwaway);
    const address = await choosePostgresAddress(home, user);
    const settings = {
      ...throughput,
      ...quiet,
      ...(throwaway ? carefree : {}),
      ...options.settings,
      ...address.settings,
    };

    const start = async (): Promise<ChildProcess> => {
      await endLeftovers(data, log);
      address.clear();
      const words = ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
      // The wish to end with us goes innermost: the kernel forgets it when a process takes on another user.
      const mortal = endsWithUs(binaries.postgres, words);
      const { file, args, options: as } = commandAs(user, mortal.file, mortal.args);
      // Detached: Ctrl-C reaches every process of the terminal's group, and Postgres must outlive our last queries.
      const io = { stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"], detached: true };
      return spawn(file, args, { ...as, ...io, cwd: home, env: postgresEnvironment() });
    };
    const postgres = await keepPostgresRunning(start, log);
    log.info(`Postgres ${binaries.version} runs in ${home} (process ${postgres.pid})`);

    let stopped: Promise<void> | undefined;
    return {
      url: address.url(databaseUser, password),
      get pid() {
        return postgres.pid;
      },
      stop: () => (stopped ??= postgres.stop().then(close)),
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** The address of an embedded Postgres that another process of ours runs in this directory; undefined when none does. */
export function attachEmbeddedPostgres(dataDir: string): string | undefined {
  const home = join(resolve(dataDir), "postgres");
  const running = runningAddress(join(home, "data", "postmaster.pid"));
  return running?.(databaseUser, readFileSync(join(home, "password"), "utf8").trim());
}

const silent: EmbeddedLog = { info: () => {}, warn: () => {}, error: () => {} };

/** As durable as Postgres is by default; larger, because its defaults are made for sharing a small machine. */
const throughput = {
  max_connections: 200,
  shared_buffers: "256MB",
  // Checkpoints seldom: after each, the first write of every page puts the whole page into the log.
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  // Our statements are short; compiling them costs more than it saves.
  jit: "off",
  timezone: "UTC",
};

/** Its messages come to our log; errors of statements do not: they reach us as errors, and they quote people's data. */
const quiet = {
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_line_prefix: "",
  log_checkpoints: "off",
  lc_messages: "C",
};

/** For data that ends with the run. */
const carefree = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
