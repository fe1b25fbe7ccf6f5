import { chownSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import type { PostgresUser } from "./postgres-user.ts";

/** Where Postgres listens. The same for as long as this server runs, across restarts of Postgres. */
export type PostgresAddress = {
  settings: Record<string, string | number>;
  url(user: string, password: string): string;
  /** Removes leftovers before a new start. */
  clear(): void;
};

/** A socket in a directory that only we may enter, or 127.0.0.1 where sockets are not possible. */
export async function choosePostgresAddress(home: string, user: PostgresUser): Promise<PostgresAddress> {
  const directory = join(home, "socket");
  const fits = Buffer.byteLength(join(directory, `.s.PGSQL.${socketNumber}`)) <= longestSocketPath;
  return fits && process.platform !== "win32" ? socketIn(directory, user) : loopback(await freePort());
}

/** Not a TCP port, only the suffix of the socket's name. */
const socketNumber = 5432;

/** The size of sun_path without its final zero. */
const longestSocketPath = process.platform === "darwin" ? 103 : 107;

function socketIn(directory: string, user: PostgresUser): PostgresAddress {
  return {
    settings: {
      listen_addresses: "",
      // The setting is a list of names. Without quotes, a comma in the path would split it.
      unix_socket_directories: `"${directory.replaceAll('"', '""')}"`,
      unix_socket_permissions: "0700",
      port: socketNumber,
    },
    url: socketUrl(directory),
    clear: () => {
      // A lock file of a killed Postgres contains a process id that another process may have by now.
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory, { mode: 0o700 });
      if (user.kind === "system-user") chownSync(directory, user.uid, user.gid);
    },
  };
}

const socketUrl =
  (directory: string): PostgresAddress["url"] =>
  (name, password) =>
    `postgres://${name}:${password}@${encodeURIComponent(directory)}:${socketNumber}/postgres`;

function loopback(port: number): PostgresAddress {
  return {
    settings: { listen_addresses: "127.0.0.1", unix_socket_directories: "", port },
    url: (name, password) => `postgres://${name}:${password}@127.0.0.1:${port}/postgres`,
    clear: () => {},
  };
}

/** The address of the Postgres that wrote this file. Undefined if it has stopped, or is not ready yet. */
export function runningAddress(pidFile: string): PostgresAddress["url"] | undefined {
  const lines = existsSync(pidFile)
    ? readFileSync(pidFile, "utf8")
        .split("\n")
        .map((line) => line.trim())
    : [];
  const [pid, , , port, directory, host] = lines;
  if (!isAlive(Number(pid)) || port === undefined) return undefined;
  if (directory) return socketUrl(directory);
  return host ? loopback(Number(port)).url : undefined;
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
