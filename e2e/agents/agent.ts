import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import type { Orders, Report } from "./agent-messages.ts";

const SOURCE = fileURLToPath(new URL("./agent-process.ts", import.meta.url));
/** Inside the workspace, so that Node finds the packages. */
const FOLDER = fileURLToPath(new URL("../../packages/sdk/node_modules/.cache/", import.meta.url));

export interface Agent {
  readonly child: ChildProcess;
  /** Its reports so far. */
  readonly reports: readonly Report[];
  /** Resolves with the first report of that kind, or with undefined when it ended without one. */
  reported(is: Report["is"]): Promise<Report | undefined>;
  /** Resolves when it has ended and its output was read. */
  readonly ended: Promise<void>;
}

/** The agent's program, ready to be started. */
export async function agentProgram(): Promise<{ start(orders: Orders): Agent; remove(): void }> {
  const { file, remove } = await oneFile({ entryPoints: [SOURCE] });
  return { start: (orders) => start(file, orders), remove };
}

/** A program as one file: it starts in a tenth of the time. */
export async function oneFile(
  entry: Pick<BuildOptions, "entryPoints" | "stdin">,
): Promise<{ file: string; remove(): void }> {
  const file = join(FOLDER, `agent-${randomUUID()}.mjs`);
  await build({
    ...entry,
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["holdfast-source"],
    external: ["libsql", "undici", "ws", "nanoid", "zustand", "dexie"],
    logLevel: "silent",
  });
  return { file, remove: () => rmSync(file) };
}

function start(file: string, orders: Orders): Agent {
  const child = spawn(process.execPath, [file, JSON.stringify(orders)], {
    cwd: dirname(file),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const reports: Report[] = [];
  const lines = createInterface(child.stdout);
  lines.on("line", (line) => {
    // A killed process may leave half a line, which is ignored.
    try {
      reports.push(JSON.parse(line) as Report);
    } catch {}
  });
  const ended = Promise.all([once(child, "exit"), once(lines, "close")]).then(() => {});
  return {
    child,
    reports,
    ended,
    async reported(is) {
      const find = () => reports.find((report) => report.is === is);
      for (let over = false; !find() && !over; )
        over = await Promise.race([once(lines, "line").then(() => false), ended.then(() => true)]);
      return find();
    },
  };
}
