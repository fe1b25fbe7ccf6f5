import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { endProgram } from "./child-program.ts";
import { freePort } from "./free-port.ts";

/** A MariaDB of its own in a temporary folder, with the settings that it has by default. */
export interface Mariadb extends AsyncDisposable {
  /** Of an empty database, for a user that may do everything. */
  readonly url: string;
  /** For `mariadb --socket=…`, as root without a password. */
  readonly socket: string;
  readonly folder: string;
}

/** Why there is none here. Undefined: there is one. */
export function missingMariadb(): string | undefined {
  try {
    execFileSync("mariadbd", ["--no-defaults", "--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "mariadbd is not installed here: apt-get install -y mariadb-server";
  }
}

export async function startMariadb(): Promise<Mariadb> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mariadb-"));
  // It does not run as root.
  chmodSync(folder, 0o777);
  const user = process.getuid?.() === 0 ? ["--user=mysql"] : [];
  const data = `--datadir=${join(folder, "data")}`;
  const install = ["--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db", ...user];
  execFileSync("mariadb-install-db", install, { stdio: "ignore" });
  const init = join(folder, "init.sql");
  writeFileSync(init, "create database app;\ngrant all on *.* to app@localhost identified by 'secret';\n");
  const [socket, port] = [join(folder, "mariadb.sock"), await freePort()];
  const address = [`--socket=${socket}`, `--port=${port}`, "--bind-address=127.0.0.1"];
  const child = spawn("mariadbd", ["--no-defaults", data, ...address, `--init-file=${init}`, ...user], {
    stdio: "ignore",
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async () => {
    process.off("exit", kill);
    await endProgram(child, "SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await answers(child, socket);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `mysql://app:secret@127.0.0.1:${port}/app`, socket, folder, [Symbol.asyncDispose]: stop };
}

async function answers(child: ChildProcess, socket: string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`mariadbd ended with ${child.exitCode}.`);
    try {
      execFileSync("mariadb", ["--no-defaults", `--socket=${socket}`, "--user=root", "-e", "select 1"], {
        stdio: "ignore",
      });
      return;
    } catch {
      await pause(100);
    }
  }
}
