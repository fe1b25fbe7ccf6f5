import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
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
}

/** The server's own program with its embedded Postgres, always on one address, to be killed and started again. */
export class KillableServer {
  readonly dataDir: string;
  readonly #plan: ServerPlan;
  url = "";
  longestOutageMs = 0;
  #child: ChildProcess | undefined;
  #port = 0;
  #answeredAt = 0;

  constructor(dataDir: string, plan: ServerPlan = {}) {
    this.dataDir = dataDir;
    this.#plan = plan;
  }

  get adminToken(): string {
    return readFileSync(join(this.dataDir, "admin-token"), "utf8").trim();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    this.#port ||= await freePort();
    const { flags, file } = this.#plan.main ?? sourceProgram(MAIN);
    const child = spawn(process.execPath, [...flags, ...(this.#plan.node ?? []), file], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "ignore"],
      env: {
        PATH: process.env.PATH ?? "",
        HOME: process.env.HOME ?? "",
        PORT: String(this.#port),
        HOLDFAST_DATA_DIR: this.dataDir,
        HOLDFAST_SCHEMA: join(ROOT, "packages/server/reference-schema.json"),
        ...this.#plan.env,
      },
    });
    this.#child = child;
    let text = "";
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      text += chunk.toString();
      if (text.includes("\n")) break;
    }
    if (!text.includes('"listening"')) throw new Error("The server did not start.");
    this.url = (JSON.parse(text) as { url: string }).url;
  }

  /** kill -9 of the server alone: its Postgres has to notice by itself. */
  async end(): Promise<void> {
    const child = this.#child as ChildProcess;
    const gone = once(child, "exit");
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await gone;
  }

  /** The same, and started again at once. */
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

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  }

  /** Records a response, and the time since the last one. */
  answered(): void {
    const now = performance.now();
    if (this.#answeredAt > 0) this.longestOutageMs = Math.max(this.longestOutageMs, now - this.#answeredAt);
    this.#answeredAt = now;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
