import { createTestServer } from "@holdfast/sdk/testing";
import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { Options } from "../stage/stage.ts";
import { type Change, type Created, LISTS, tracker, trackerChanges, trackerList, trackerSchema } from "./tracker.ts";

const CHANGES = 400;

/**
 * What a change that arrives costs lists that include related records: from the frame on the socket until each of 50
 * lists has answered. No network and no server process takes part.
 */
export async function measureIncludedLists({ rounds, print }: Options): Promise<Row[]> {
  const { server, client: open, settle } = createTestServer(trackerSchema);
  let batch: Created[] = [];
  let named = 0;
  const commit = (operations: readonly ({ action: string } & Created)[]) =>
    server.commit({ clientTxId: `c${++named}`, operations } as Parameters<typeof server.commit>[0], "ben");
  const flush = () => commit(batch.map((each) => ({ action: "create", ...each })));
  for (const each of tracker()) {
    batch.push(each);
    if (batch.length < 1_000) continue;
    flush();
    batch = [];
  }
  if (batch.length > 0) flush();
  const { client, connection } = open();
  await client.ready();
  await settle();
  connection.quiet = true;
  const { issue: issues } = client.models;
  const include = {
    project: true,
    labels: { orderBy: "name" },
    comments: { orderBy: "at", order: "desc", limit: 3 },
  } as const;
  const read = (i: number) => {
    const { status, projectId, orderBy, limit } = trackerList(i);
    return issues.list({ where: { status, projectId }, orderBy, limit, include });
  };
  const start = performance.now();
  for (let i = 0; i < LISTS; i++) if (read(i).length < 100) throw new Error("A list is too short.");
  const first = performance.now() - start;

  /** Commits a change as another person, and returns how long it took until all lists had answered. */
  function change(each: Change): number {
    const from = server.head;
    commit([each]);
    const entries = server.log.slice(from);
    if (entries.length !== 1) throw new Error("A change that changes nothing measures nothing.");
    const begun = performance.now();
    connection.say({ frame: "entries", from, to: server.head, entries });
    for (let i = 0; i < LISTS; i++) read(i);
    const took = performance.now() - begun;
    if (client.status().syncId !== server.head) throw new Error("The change did not arrive.");
    return took;
  }

  const which = `${LISTS} lists with project, labels and comments over 100,000 rows`;
  const rows: Row[] = [{ what: `SDK: ${which}: all of them for the first time`, unit: "ms", runs: summarize([first]) }];
  let n = 0;
  for (const { what, of } of trackerChanges) {
    const p50: number[] = [];
    const p99: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const delays: number[] = [];
      for (let i = 0; i < CHANGES; i++) delays.push(change(of(n++)));
      delays.sort((a, b) => a - b);
      p50.push(percentile(delays, 0.5));
      p99.push(percentile(delays, 0.99));
      await settle();
    }
    print(`${which}: ${what}: p50 ${p50.at(-1)?.toFixed(3)} ms, p99 ${p99.at(-1)?.toFixed(3)} ms`);
    const targets = what.includes("170") ? [] : ["target 0.3 ms", "target 2 ms"];
    rows.push({ what: `SDK: ${which}: ${what}, p50`, unit: "ms", runs: summarize(p50), note: targets[0] ?? "" });
    rows.push({ what: "the same, p99", unit: "ms", runs: summarize(p99), note: targets[1] ?? "" });
  }
  await client.close();
  return rows;
}
