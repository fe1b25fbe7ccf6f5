import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The server's own program with its embedded Postgres, always on one address, to be killed and started again. */
export class KillableServer {
  readonly dataDir: string;
  url = "";
  longestOutageMs = 0;
  #child: ChildProcess | undefined;
  #port = 0;
  #answeredAt = 0;

  constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  get adminToken(): string {
    return readFileSync(join(this.dataDir, "admin-token"), "utf8").trim();
  }

  async start(): Promise<void> {
    this.#port ||= await freePort();
    const child = spawn(
      process.execPath,
      ["--conditions=holdfast-source", "--import", "tsx", join(ROOT, "packages/server/src/main.ts")],
      {
        cwd: ROOT,
        stdio: ["ignore", "pipe", "ignore"],
        env: {
          PATH: process.env.PATH ?? "",
          HOME: process.env.HOME ?? "",
          PORT: String(this.#port),
          HOLDFAST_DATA_DIR: this.dataDir,
          HOLDFAST_SCHEMA: join(ROOT, "packages/server/reference-schema.json"),
        },
      },
    );
    this.#child = child;
    let text = "";
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      text += chunk.toString();
      if (text.includes("\n")) break;
    }
    if (!text.includes('"listening"')) throw new Error("The server did not start.");
    this.url = (JSON.parse(text) as { url: string }).url;
  }

  /** kill -9 of the server alone: its Postgres has to notice by itself. Started again at once. */
  async kill(): Promise<void> {
    const child = this.#child as ChildProcess;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    await this.start();
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  }

  /** Somebody got an answer: how long had nobody got one? */
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
