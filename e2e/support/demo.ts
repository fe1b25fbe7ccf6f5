import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { importProgram, nodeWords, sqlProgram, startProgram } from "../../apps/demo/dev/project.ts";
import { root } from "../../scripts/root.mjs";

/** What a test sees of the demo: the page and the server, with an organization that no other test writes to. */
export interface Demo {
  readonly pageUrl: string;
  readonly serverUrl: string;
  readonly secretKey: string;
  /** Where the mirror keeps its copy. */
  readonly mirrorFile: string;
  /** Imports a Markdown file as `npm run demo:import` does; resolves with what it printed. */
  import(file: string, ...args: string[]): Promise<Imported>;
  /** The same, to be held and let go. */
  startImport(file: string, ...args: string[]): RunningImport;
}

export interface Imported {
  readonly code: number;
  readonly printed: string;
}

export interface RunningImport {
  readonly ended: Promise<Imported>;
  /** Stops its process where it is. */
  hold(): void;
  goOn(): void;
}

/** The whole demo as `npm start` runs it, with its own Postgres; on data of its own. */
export interface WholeDemo extends Demo, AsyncDisposable {
  /** Runs a statement as `npm run demo:sql` does; resolves with what it printed. */
  sql(statement: string): Promise<Imported>;
  /** Stops all processes and keeps the data. */
  takeDown(): Promise<void>;
  /** Starts it again, at the same addresses. */
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDemo(): Promise<WholeDemo> {
  const data = await mkdtemp(join(tmpdir(), "holdfast-e2e-"));
  const env = {
    ...process.env,
    HOLDFAST_DATA_DIR: data,
    PORT: "0",
    DEMO_PORT: "0",
  };
  let end = await run(env);

  const read = async (name: string) => JSON.parse(await readFile(join(data, name), "utf8")) as Record<string, string>;
  const { pageUrl = "", serverUrl = "" } = await read("demo.json");
  const { live: secretKey = "" } = await read("keys.json");
  const stop = async () => {
    await end();
    await rm(data, { recursive: true, force: true });
  };
  return {
    pageUrl,
    serverUrl,
    secretKey,
    mirrorFile: join(data, "mirror", "mirror.db"),
    takeDown: () => end(),
    comeBack: async () => {
      end = await run({ ...env, PORT: new URL(serverUrl).port, DEMO_PORT: new URL(pageUrl).port });
    },
    ...{ stop, [Symbol.asyncDispose]: stop },
    ...importInto(data),
    sql: async (statement) => await startProgramOn(data, sqlProgram, statement).ended,
  };
}

/** Runs the importer for the demo whose data is in this folder. */
export function importInto(data: string): Pick<Demo, "import" | "startImport"> {
  const startImport = (file: string, ...args: string[]) => startProgramOn(data, importProgram, file, ...args);
  return { startImport, import: (file, ...args) => startImport(file, ...args).ended };
}

function startProgramOn(data: string, program: string, ...args: string[]): RunningImport {
  const child = spawn(process.execPath, nodeWords(program, ...args), {
    cwd: root,
    env: { ...process.env, HOLDFAST_DATA_DIR: data },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += text));
  return {
    ended: once(child, "close").then(([code]) => ({ code, printed })),
    hold: () => void child.kill("SIGSTOP"),
    goOn: () => void child.kill("SIGCONT"),
  };
}

/** Resolves when the page is up, with how to end it. */
async function run(env: NodeJS.ProcessEnv): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, nodeWords(startProgram, "--no-import"), {
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
