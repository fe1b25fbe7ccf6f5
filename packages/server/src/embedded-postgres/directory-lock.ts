import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, constants, ftruncateSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname } from "node:path";

/** Held until `release()` or until this process ends, however it ends. */
export type DirectoryLock = { release(): void };

/**
 * Takes the lock file for this process, or throws a sentence that names the process which holds it.
 *
 * The kernel keeps the lock, not the file's existence: a file that says "locked" outlives `kill -9`, and taking over
 * a stale one is a race between two that find it at once. The file itself is never removed, for the same reason.
 */
export async function lockDirectory(lockFile: string): Promise<DirectoryLock> {
  const file = openSync(lockFile, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const release = await hold(lockFile, file);
    // Only for the sentence that the next one reads.
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
    // flock(1) locks the open file that it inherits from us as descriptor 3 and exits; the lock belongs to that open
    // file, so it stays with us. It also holds between containers that share the directory.
    const { status } = spawnSync("flock", ["-x", "-n", "3"], {
      stdio: ["ignore", "ignore", "ignore", file],
    });
    if (status === 0) return () => {};
    if (status === 1) throw new Error(inUse(lockFile));
  }
  return holdByName(lockFile);
}

/** BSD's open(2) takes the lock in the same call; Node passes the flags on. */
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

/** Windows, and a Linux without flock(1) or with files that it cannot lock: a name that only one process can listen on and that leaves no file. */
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
    "Stop that server, or set HOLDFAST_DATA_DIR to another directory for this one."
  );
}
