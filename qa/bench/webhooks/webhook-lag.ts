import { setTimeout as pause } from "node:timers/promises";
import { percentile, summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import type { Options, Stage } from "../stage/stage.ts";
import type { Arrived } from "./webhook-receiver.ts";
import { call, ENDPOINTS, register, type Server, startReceiver } from "./webhook-stage.ts";

const COMMITS_PER_SECOND = 100;
/** How long commits go on, as a multiple of a run. */
const LONG = 4;

/** Twenty endpoints of which one never answers: how long it takes from a commit's sending until the others have it. */
export async function measureLag(stage: Stage, { rounds, seconds, print }: Options): Promise<Row[]> {
  const hanging = "/hook-0";
  await using receiver = await startReceiver({ answerMs: 0, hanging });
  const server = await stage.server({ database: "hanging" });
  for (let i = 0; i < ENDPOINTS; i++) await register(server, `${receiver.url}/hook-${i}`);
  const found = { p50: [] as number[], p99: [] as number[] };
  for (let n = 0; n <= rounds; n++) {
    await receiver.request("/reset");
    const sentAt = await commitSteadily(server, LONG * seconds, `h${n}`);
    const last = Math.max(...sentAt.keys());
    const isThere = ({ deliveries }: Arrived) => deliveries.some(([, to]) => to >= last);
    const all = await receiver.until((arrived) => arrived.filter(isThere).length >= ENDPOINTS - 1, "/deliveries");
    const lags = all
      .flatMap(({ deliveries }) => deliveries.flatMap((one) => lagsOf(one, sentAt)))
      .sort((a, b) => a - b);
    if (lags.length < (ENDPOINTS - 1) * sentAt.size) throw new Error(`Only ${lags.length} arrivals.`);
    if (n === 0) continue;
    found.p50.push(percentile(lags, 0.5));
    found.p99.push(percentile(lags, 0.99));
    print(
      `round ${n} of ${rounds}: lag p50 ${round(percentile(lags, 0.5))} ms, p99 ${round(percentile(lags, 0.99))} ms`,
    );
  }
  const what = `webhooks: commit sent → at ${ENDPOINTS - 1} endpoints beside one that hangs, ${COMMITS_PER_SECOND} commits/s`;
  return [
    { what: `${what}, p50`, unit: "ms", runs: summarize(found.p50) },
    { what: `${what}, p99`, unit: "ms", runs: summarize(found.p99), note: "target 1 000 ms" },
  ];
}

function lagsOf([from, to, at]: Arrived["deliveries"][number], sentAt: ReadonlyMap<number, number>): number[] {
  const lags: number[] = [];
  for (let position = from; position <= to; position++) {
    const sent = sentAt.get(position);
    if (sent !== undefined) lags.push(at - sent);
  }
  return lags;
}

/** One after the other at an even pace, however long answers take. Answers when which position was sent. */
async function commitSteadily(server: Server, seconds: number, prefix: string): Promise<Map<number, number>> {
  const sentAt = new Map<number, number>();
  const sent: Promise<unknown>[] = [];
  const start = performance.now();
  for (let n = 0; n < seconds * COMMITS_PER_SECOND; n++) {
    const wait = start + (n * 1_000) / COMMITS_PER_SECOND - performance.now();
    if (wait > 0) await pause(wait);
    const at = Number(process.hrtime.bigint()) / 1e6;
    const body = { id: `${prefix}-${n}`, data: { deckId: "deck-1", title: "Told", notes: "n".repeat(850) } };
    sent.push(
      call<{ lastSyncId: number }>(server, "POST", "/v1/models/slide", body).then(({ lastSyncId }) =>
        sentAt.set(lastSyncId, at),
      ),
    );
  }
  await Promise.all(sent);
  return sentAt;
}
