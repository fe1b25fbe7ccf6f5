// A client of another tenant in a process of its own, so that what it measures is the server and not the load's own work.
import { Agent } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { sendJson } from "../../support/send-json.ts";

export interface NeighbourFindings {
  /** Milliseconds of each request, by phase. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  readonly faults: readonly string[];
}

const EVERY_MS = 20;
const MOST_FAULTS = 20;

const [url = "", token = ""] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const times: Record<string, number[]> = {};
const faults: string[] = [];
/** Undefined: it rests. */
let phase: string | undefined;
let open = 0;

const REQUESTS = [
  (n: number) => ({
    method: "POST",
    path: "/v1/models/slide",
    body: { id: `n${n}`, data: { deckId: "d", title: `Slide ${n}` } },
  }),
  (n: number) => ({ method: "GET", path: `/v1/models/slide/n${n - 1}` }),
  () => ({ method: "GET", path: "/v1/models/slide?limit=10&order_by=title" }),
  () => ({ method: "GET", path: "/v1/log?limit=10" }),
] as const;

async function one(n: number, name: string): Promise<void> {
  const make = REQUESTS[n % REQUESTS.length] as (n: number) => { method: "GET" | "POST"; path: string; body?: object };
  const { path, ...asked } = make(n);
  const begun = performance.now();
  open += 1;
  try {
    const { status, body } = await sendJson({ agent, url: url + path, token, ...asked });
    // The slide before may still be on its way.
    if (status !== 200 && status !== 404) throw new Error(`${status} ${body.code}`);
    times[name]?.push(performance.now() - begun);
  } catch (error) {
    if (faults.length < MOST_FAULTS) faults.push(`${asked.method} ${path}, ${name}: ${(error as Error).message}`);
  }
  open -= 1;
}

// One request at its time each, whether those before it were answered or not.
async function ask(): Promise<void> {
  for (let n = 0; ; n++) {
    if (phase !== undefined) void one(n, phase);
    await pause(EVERY_MS);
  }
}

process.on("message", async (next: { readonly phase?: string }) => {
  phase = next.phase;
  if (phase !== undefined) times[phase] ??= [];
  else while (open > 0) await pause(EVERY_MS);
  process.send?.({ times, faults } satisfies NeighbourFindings);
});
// The parent process has ended.
process.on("disconnect", () => process.exit(0));
await ask();
