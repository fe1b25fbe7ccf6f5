import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { SeededRandom } from "../../qa/support/seeded-random.ts";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { startPeople } from "../clients/people.ts";
import { agentProgram } from "./agent.ts";
import type { Report } from "./agent-messages.ts";
import { openBadGate, type Weather } from "./bad-gate.ts";

const SEED = Number(process.env.AGENT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const ROUNDS_MS = 8_000;
const LEAST_ROUNDS = 8;
const WEATHER: readonly Weather[] = ["up", "up", "slow", "deaf", "down"];
const RECORDS = ["r0", "r1", "r2", "r3", "r4"];

interface Entry {
  readonly syncId: number;
  readonly id: string;
  readonly clientTxId: string;
  readonly data: { readonly order: number };
}

const people = await startPeople();
const folder = temporaryFolder("agents");
const program = await agentProgram();
const gate = await openBadGate(people.url);
afterAll(() => {
  gate.close();
  program.remove();
});

async function readLog(): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after = "0", more = true; more; ) {
    const page = await people.request("GET", `/v1/log?after=${after}&limit=1000`);
    entries.push(...(page.data as Entry[]));
    after = String(page.next_cursor);
    more = Boolean(page.has_more);
  }
  return entries;
}

test("[D20] an agent that is killed at any moment sends its queued writes after a restart, each once and in order", async () => {
  console.info(`AGENT_SEED=${SEED}`);
  const chance = new SeededRandom(SEED);
  for (const id of RECORDS)
    await people.request("POST", "/v1/commits", {
      operations: [{ action: "create", model: "slide", id, data: { deckId: "d1", order: -1 } }],
    });
  const token = await people.agentToken("writer");
  const orders = { url: gate.url, token: token, file: join(folder, "agent.db"), records: RECORDS };
  const queued: Extract<Report, { is: "queued" }>[] = [];
  let resumed = 0;

  const end = performance.now() + ROUNDS_MS;
  let rounds = 0;
  // Until it has covered enough: kills did happen during the work.
  const isCovered = () => resumed > 1 && queued.length > rounds / 2;
  for (; rounds < LEAST_ROUNDS || performance.now() < end || !isCovered(); rounds++) {
    // The first process has to read the rows once. Later ones have them on disk, even without a connection.
    gate.turn(rounds === 0 ? "up" : chance.oneOf(WEATHER));
    const agent = program.start({ ...orders, round: rounds, shallFinish: false });
    if (rounds > 0 && chance.percent(20)) {
      // During its start, while the file is opened, repaired, or read.
      await sleep(chance.below(200));
    } else {
      const ready = await agent.reported("ready");
      expect(ready, `round ${rounds} ended before it was ready`).toBeDefined();
      if (ready?.is === "ready" && ready.pending > 0) resumed += 1;
      await agent.reported("queued");
      const killAt = performance.now() + chance.below(150);
      while (performance.now() < killAt) {
        await sleep(Math.min(10 + chance.below(40), Math.max(0, killAt - performance.now())));
        if (chance.percent(50)) gate.turn(chance.oneOf(WEATHER));
      }
    }
    agent.child.kill("SIGKILL");
    await agent.ended;
    queued.push(...agent.reports.filter((report) => report.is === "queued"));
  }

  gate.turn("up");
  const last = program.start({ ...orders, round: rounds, shallFinish: true });
  const finished = await last.reported("finished");
  expect(finished).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  await last.ended;
  expect(last.child.exitCode).toBe(0);

  const log = await readLog();
  const written = new Map<string, Entry>();
  for (const entry of log) {
    expect(written.has(entry.clientTxId), `${entry.clientTxId} is in the log twice`).toBe(false);
    written.set(entry.clientTxId, entry);
  }
  const lost = queued.filter(({ clientTxId, id, order }) => {
    const entry = written.get(clientTxId);
    return entry?.id !== id || entry.data.order !== order;
  });
  expect(lost).toEqual([]);
  // Its rows were repaired from the disk of each killed process, never read again.
  expect(finished).toMatchObject({ rows: Object.fromEntries(log.map(({ id, data }) => [id, data.order])) });
  for (const id of RECORDS) {
    const orderly = log.filter((entry) => entry.id === id).map(({ data }) => data.order);
    expect(orderly).toEqual([...orderly].sort((a, b) => a - b));
  }
  console.info(
    `${rounds} kills, ${resumed} starts with a queue, ${queued.length} writes on disk, ${log.length} in the log`,
  );
});
