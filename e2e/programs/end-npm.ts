import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { root } from "../../scripts/root.mjs";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { until } from "../../scripts/testing/until.ts";

/**
 * Starts an npm script of the project on data of its own, waits until it prints this, ends npm, and waits until all that
 * it had started has ended. Returns the names of these programs.
 */
export async function endNpm(words: readonly string[], ready: string, signal: NodeJS.Signals): Promise<string[]> {
  const data = temporaryFolder("npm", onTestFinished);
  const npm = spawn("npm", [...words], {
    cwd: root,
    env: { ...process.env, HOST: "127.0.0.1", PORT: "0", DEMO_PORT: "0", HOLDFAST_DATA_DIR: data },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let started: readonly Process[] = [];
  onTestFinished(async () => {
    for (const { pid } of running().filter((one) => isOf(started, one))) process.kill(pid, "SIGKILL");
  });
  for await (const line of createInterface({ input: npm.stdout })) if (line.includes(ready)) break;
  started = below(npm.pid as number);
  const ended = once(npm, "exit");
  npm.kill(signal);
  await ended;
  await until(() => !running().some((one) => isOf(started, one)));
  return started.map(({ command }) => command);
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** A zombie has ended; only its parent has not asked yet. */
const running = (): Process[] =>
  execFileSync("ps", ["-eo", "pid=,ppid=,stat=,args="], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => {
      const [, pid, parent, state, command] = /^ *(\d+) +(\d+) +(\S+) +(.*)$/.exec(line) ?? [];
      return command === undefined || state?.startsWith("Z")
        ? []
        : [{ pid: Number(pid), parent: Number(parent), command }];
    });

const isOf = (all: readonly Process[], { pid, command }: Process) =>
  all.some((one) => one.pid === pid && one.command === command);

function below(pid: number): Process[] {
  const all = running();
  const from = (parent: number): Process[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...from(one.pid)]);
  return from(pid);
}
