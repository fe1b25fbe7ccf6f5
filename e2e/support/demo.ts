import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const nodeWords = ["--conditions=holdfast-source", "--import", "tsx"];

/** The whole demo as `npm start` runs it: real server, real Postgres, real page; on data of its own. */
export interface Demo {
  readonly pageUrl: string;
  readonly serverUrl: string;
  readonly secretKey: string;
  /** Where the mirror keeps its copy. */
  readonly mirrorFile: string;
  /** Imports a Markdown file as `npm run demo:import` does; resolves with what it printed. */
  import(file: string, ...args: string[]): Promise<{ code: number; printed: string }>;
  /** Runs a statement as `npm run demo:sql` does; resolves with what it printed. */
  sql(statement: string): Promise<{ code: number; printed: string }>;
  /** Stops all processes and keeps the data. */
  takeDown(): Promise<void>;
  /** Starts it again, at the same addresses. */
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDemo(): Promise<Demo> {
  const data = await mkdtemp(join(tmpdir(), "holdfast-e2e-"));
  const env = {
    ...process.env,
    ...{ HOLDFAST_DATA_DIR: data, PORT: "0", DEMO_PORT: "0" },
    // Long enough to be visible, and short enough for the test: the server gives up after 12 s.
    HOLDFAST_WEBHOOK_SCHEDULE: "0,500,1000,1500,2000,2000,2500,2500",
  };
  let end = await run(env);

  const read = async (name: string) => JSON.parse(await readFile(join(data, name), "utf8")) as Record<string, string>;
  const { pageUrl = "", serverUrl = "" } = await read("demo.json");
  const { live: secretKey = "" } = await read("keys.json");
  return {
    pageUrl,
    serverUrl,
    secretKey,
    mirrorFile: join(data, "mirror", "mirror.db"),
    takeDown: () => end(),
    comeBack: async () => {
      end = await run({ ...env, PORT: new URL(serverUrl).port, DEMO_PORT: new URL(pageUrl).port });
    },
    stop: async () => {
      await end();
      await rm(data, { recursive: true, force: true });
    },
    import: (file, ...args) => runProgram(env, "apps/demo/import.ts", file, ...args),
    sql: (statement) => runProgram(env, "apps/demo/sql.ts", statement),
  };
}

async function runProgram(env: NodeJS.ProcessEnv, ...words: string[]): Promise<{ code: number; printed: string }> {
  const child = spawn(process.execPath, [...nodeWords, ...words], { cwd: root, env });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += text));
  const [code] = (await once(child, "close")) as [number];
  return { code, printed };
}

/** Resolves when the page is up, with how to end it. */
async function run(env: NodeJS.ProcessEnv): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [...nodeWords, "apps/demo/start.ts", "--no-import"], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const opened = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.trim().startsWith("Open http")) resolve();
    });
  });
  await Promise.race([opened, ended.then(() => Promise.reject(new Error("The demo ended before its page was up.")))]);
  return async () => {
    child.kill("SIGTERM");
    await ended;
  };
}
