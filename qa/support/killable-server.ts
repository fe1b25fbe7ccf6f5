import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type SourceProgram, sourceProgram } from "@holdfast/server/testing/source-program";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = join(ROOT, "packages/server/src/main.ts");

export interface ServerPlan {
  /** Additional or changed variables. With DATABASE_URL the server starts no Postgres. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further words to Node, before the program's. */
  readonly node?: readonly string[];
  /** Instead of the server's own program. */
  readonly main?: SourceProgram;
  /** Gets each line of its log. */
  onLog?(line: string): void;
}

/** The server's own program with its embedded Postgres, always on one address, to be killed and started again. */
export class KillableServer {
  readonly dataDir: string;
  readonly #plan: ServerPlan;
  url = "";
  /** How it ended, if it did so by itself. */
  exit: string | undefined;
  longestOutageMs = 0;
  #child: ChildProcess | undefined;
  /** How its process ends: a code or a signal. */
  #ended = Promise.resolve("");
  #isEnding = false;
  #port = 0;
  #answeredAt = 0;

  constructor(dataDir: string, plan: ServerPlan = {}) {
    this.dataDir = dataDir;
    this.#plan = plan;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const { main, node = [], env, onLog } = this.#plan;
    const { flags, file } = main ?? sourceProgram(MAIN);
    const child = spawn(process.execPath, [...flags, ...node, file], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH ?? "",
        HOME: process.env.HOME ?? "",
        // The first time any that is free; it is kept for the next times.
        PORT: String(this.#port),
        HOLDFAST_DATA_DIR: this.dataDir,
        HOLDFAST_SCHEMA: join(ROOT, "packages/server/reference-schema.json"),
        ...env,
      },
    });
    this.#child = child;
    this.#isEnding = false;
    // With its log read to the end. An embedded Postgres may keep it open for longer than the server lives.
    this.#ended = once(child, onLog ? "close" : "exit").then(([code, signal]) => String(signal ?? `code ${code}`));
    void this.#ended.then((how) => {
      if (!this.#isEnding) this.exit = how;
    });
    let said = "";
    createInterface({ input: child.stderr }).on("line", (line) => {
      said = `${said}${line}\n`.slice(-2_000);
      onLog?.(line);
    });
    let text = "";
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      text += chunk.toString();
      if (text.includes("\n")) break;
    }
    if (!text.includes('"listening"')) throw new Error(`The server did not start: ${said}`);
    this.url = (JSON.parse(text) as { url: string }).url;
    this.#port = Number(new URL(this.url).port);
  }

  /** kill -9 of the server alone: its Postgres has to notice by itself. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#child?.kill("SIGKILL");
    await this.#ended;
  }

  /** A server does not start while its database is down, so it is restarted until it does. */
  async startAgain(): Promise<void> {
    for (let tried = 1; ; tried++)
      try {
        return await this.start();
      } catch (error) {
        if (tried === 20) throw error;
        await pause(500);
      }
  }

  /** kill -9, and started again at once. */
  async kill(): Promise<void> {
    await this.end();
    await this.start();
  }

  /** Suspends the process for a while: connections and locks stay open, without responses. */
  async stall(forMs: number): Promise<void> {
    const child = this.#child as ChildProcess;
    child.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, forMs));
    child.kill("SIGCONT");
  }

  /** Returns how it ended: a code or a signal. */
  async stop(): Promise<string> {
    this.#isEnding = true;
    this.#child?.kill("SIGTERM");
    return await this.#ended;
  }

  /** Records a response, and the time since the last one. */
  answered(): void {
    const now = performance.now();
    if (this.#answeredAt > 0) this.longestOutageMs = Math.max(this.longestOutageMs, now - this.#answeredAt);
    this.#answeredAt = now;
  }
}
