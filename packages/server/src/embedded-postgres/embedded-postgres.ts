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
  log?: EmbeddedLog | undefined;
  /** Postgres settings by name. They override ours. */
  settings?: Record<string, string | number | boolean> | undefined;
  /** The user that Postgres runs as. Detected if absent. */
  user?: PostgresUser | undefined;
} & ({ dataDir: string } | { throwaway: true });

export type EmbeddedPostgres = {
  /** Contains the password: never log it. */
  readonly url: string;
  /** Changes after a restart of Postgres. */
  readonly pid: number;
  /** Stops Postgres in an orderly way. Removes the files of a throwaway database. */
  stop(): Promise<void>;
};

/**
 * Runs a real Postgres, from binaries in an npm package. Its files:
 *
 *   <dataDir>/postgres/   0700
 *     lock                held by the server that runs here
 *     password            0600
 *     socket/             0700, the only way to connect
 *     data/               created by initdb
 *
 * Two barriers keep others out. The socket is in a directory that only we may enter, so neither other users nor
 * containers that share our network can reach it. And every connection needs the password. It is the only barrier where
 * Postgres has to listen on 127.0.0.1, and also where it has to run as `nobody`, because other programs may run as that
 * user too. Authentication by socket user (`peer`) would be wrong in a user namespace, where every foreign user appears
 * as `nobody`, and so do we.
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
      // The request to end with us has to be the innermost command: the kernel drops it when a process changes its
      // user.
      const mortal = endsWithUs(binaries.postgres, words);
      const { file, args, options: as } = commandAs(user, mortal.file, mortal.args);
      // Detached: Ctrl-C reaches every process of the terminal's process group, but Postgres has to outlive our last
      // queries.
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

/**
 * The address of an embedded Postgres that another Holdfast process runs in this directory. Undefined if there is none.
 */
export function attachEmbeddedPostgres(dataDir: string): string | undefined {
  const home = join(resolve(dataDir), "postgres");
  const running = runningAddress(join(home, "data", "postmaster.pid"));
  return running?.(databaseUser, readFileSync(join(home, "password"), "utf8").trim());
}

const silent: EmbeddedLog = { info: () => {}, warn: () => {}, error: () => {} };

/** As durable as Postgres's defaults, but larger, because the defaults are for a small shared machine. */
const throughput = {
  max_connections: 200,
  shared_buffers: "256MB",
  // Rare checkpoints: after each one, the first write to a page logs the whole page.
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  // Statements are short, so JIT compilation costs more than it saves.
  jit: "off",
  timezone: "UTC",
};

/**
 * Send Postgres's messages to our log, but not the errors of statements: we receive those as errors, and they quote
 * user data.
 */
const quiet = {
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_line_prefix: "",
  log_checkpoints: "off",
  lc_messages: "C",
};

/** For data that is discarded after the run. */
const carefree = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
