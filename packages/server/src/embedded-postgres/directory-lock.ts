import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, constants, ftruncateSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname } from "node:path";

/** Held until `release()`, or until this process ends in any way. */
export type DirectoryLock = { release(): void };

/**
 * Takes the lock file for this process, or throws an error that names the process which holds it.
 *
 * The lock is a kernel lock, not the existence of the file: a file that says "locked" would outlive `kill -9`, and two
 * processes that find a stale one would race to take it over. For the same reason the file is never removed.
 */
export async function lockDirectory(lockFile: string): Promise<DirectoryLock> {
  const file = openSync(lockFile, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const release = await hold(lockFile, file);
    // Only for the error message that another process shows.
    ftruncateSync(file);
    writeSync(file, `${process.pid}\n`, 0);
    return {
      release: () => {
        release();
        closeSync(file);
      },
    };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

async function hold(lockFile: string, file: number): Promise<() => void> {
  if (process.platform === "darwin") return holdByOpening(lockFile);
  if (process.platform === "linux") {
    // flock(1) inherits our open file as descriptor 3, locks it and exits. The lock belongs to the open file, so it
    // stays with us. It also works between containers that share the directory.
    const { status } = spawnSync("flock", ["-x", "-n", "3"], {
      stdio: ["ignore", "ignore", "ignore", file],
    });
    if (status === 0) return () => {};
    if (status === 1) throw new Error(inUse(lockFile));
  }
  return holdByName(lockFile);
}

/** BSD's open(2) takes the lock in the same call. Node passes the flags through. */
function holdByOpening(lockFile: string): () => void {
  const O_EXLOCK = 0x20;
  try {
    const locked = openSync(lockFile, constants.O_RDWR | constants.O_NONBLOCK | O_EXLOCK);
    return () => closeSync(locked);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") throw new Error(inUse(lockFile));
    throw error;
  }
}

/**
 * For Windows, and for Linux without flock(1) or with a file system without locks: listen on a name that only one
 * process can have and that leaves no file behind.
 */
async function holdByName(lockFile: string): Promise<() => void> {
  const { dev, ino } = statSync(lockFile, { bigint: true });
  const id = createHash("sha256").update(`${dev}:${ino}:${lockFile}`).digest("hex").slice(0, 32);
  const name = process.platform === "win32" ? `\\\\.\\pipe\\holdfast-${id}` : `\0holdfast-${id}`;
  const server = await new Promise<Server>((resolve, reject) => {
    const listening = createServer((socket) => socket.destroy());
    listening.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new Error(inUse(lockFile)) : error),
    );
    listening.listen(name, () => resolve(listening.unref()));
  });
  return () => server.close();
}

function inUse(lockFile: string): string {
  const holder = readFileSync(lockFile, "utf8").trim();
  const who = /^\d+$/.test(holder) ? ` (process ${holder})` : "";
  return (
    `The database in ${dirname(lockFile)} is in use by another Holdfast server${who}. ` +
    "Stop that server, or set HOLDFAST_DATA_DIR to another directory for this server."
  );
}
