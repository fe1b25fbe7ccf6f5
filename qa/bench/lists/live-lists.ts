import type { SyncClient } from "@holdfast/sdk";
import { createTestServer } from "@holdfast/sdk/testing";
import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { Options } from "../stage/stage.ts";
import { fillModel } from "./fill-model.ts";

const ROWS = 100_000;
const CHANGES = 400;
const SHOWN = 100;

const schema = {
  models: {
    slide: {
      fields: {
        title: { type: "string" },
        order: { type: "number" },
        due: { type: "datetime" },
        status: { type: "string" },
        notes: { type: "string" },
      },
    },
  },
} as const;

type Slides = SyncClient<typeof schema>["models"]["slide"];
type Query = NonNullable<Parameters<Slides["list"]>[0]>;

/** Every one of them matches all rows, or nearly all; no two are the same list. */
function queries(lists: number, limit: number | undefined): Query[] {
  return Array.from({ length: lists }, (_, i): Query => {
    const orderBy = (["order", "due", "title"] as const)[i % 3] ?? "order";
    const order = i % 2 === 0 ? "asc" : "desc";
    // No two runs share a list that is kept.
    const where = { order: { gte: -1 - i - 100 * lists }, status: "open" };
    return { where, orderBy, order, ...(limit !== undefined && { limit: limit + i }) };
  });
}

/**
 * What a change that arrives costs the views: from the frame on the socket until each list has answered. No network
 * and no server process takes part.
 */
export async function measureLiveLists({ rounds, print }: Options): Promise<Row[]> {
  const { server, client: open, settle } = createTestServer(schema);
  const dataOf = (i: number) => ({
    title: `Slide ${(i * 7_919) % ROWS}`,
    order: i,
    due: new Date(1.7e12 + ((i * 104_729) % ROWS) * 60_000).toISOString(),
    status: "open",
  });
  fillModel(server, "slide", ROWS, (n) => ({ id: `s${n}`, data: dataOf(n) }));
  const { client, connection } = open();
  await client.ready();
  await settle();
  connection.quiet = true;
  // Without a subscriber, lists that have too many records together are dropped.
  client.subscribe(() => {});
  const { slide: slides } = client.models;

  let named = 0;
  /** Commits a change as another participant, and gives back how long it took until all lists had been asked again. */
  function change(id: string, data: object, live: readonly Query[]): number {
    const from = server.head;
    const operations = [{ action: "update" as const, model: "slide", id, data }];
    server.commit({ clientTxId: `c${++named}`, operations } as Parameters<typeof server.commit>[0], "ben");
    const entries = server.log.slice(from);
    if (entries.length !== 1) throw new Error("A change that changes nothing measures nothing.");
    const start = performance.now();
    connection.say({ frame: "entries", from, to: server.head, entries });
    for (const query of live) slides.list(query);
    const took = performance.now() - start;
    if (client.status().syncId !== server.head) throw new Error("The change did not arrive.");
    return took;
  }

  /** Each `n` is given once: what was there already would be no change. */
  const kinds: { what: string; data(n: number): object; id(n: number, live: readonly Query[]): string }[] = [
    {
      what: "a field that no list asks for",
      data: (n) => ({ notes: `Note ${n}` }),
      id: (n) => `s${(n * 613) % ROWS}`,
    },
    {
      what: "a row comes or goes",
      data: (n) => ({ status: n % 2 ? "open" : "closed" }),
      id: (n) => `s${((n >> 1) * 613) % ROWS}`,
    },
    {
      what: "a row moves in the order",
      data: (n) => dataOf(((n * 31_337) % ROWS) + 0.5 + n / 1e6),
      id: (n) => `s${(n * 613) % ROWS}`,
    },
    {
      what: "the first row moves to the end",
      data: (n) => ({ order: ROWS + n, due: "2090-01-01T00:00:00Z", title: `zz ${n}` }),
      id: (_, live) => slides.list(live[0] as Query)[0]?.id ?? "",
    },
  ];

  const rows: Row[] = [];
  let n = 0;
  for (const limit of [SHOWN, undefined]) {
    for (const lists of limit === undefined ? [1, 10] : [1, 10, 50]) {
      const live = queries(lists, limit);
      const firsts: number[] = [];
      for (const query of live) {
        const start = performance.now();
        const { length } = slides.list(query);
        firsts.push(performance.now() - start);
        if (length < Math.min(limit ?? 0, ROWS)) throw new Error(`A list of ${length} rows.`);
      }
      const which = `${lists} ${lists === 1 ? "list" : "lists"} of ${ROWS.toLocaleString("en-US")} rows${limit ? `, ${limit} shown of each` : ", all shown"}`;
      if (lists !== 50) rows.push({ what: `SDK: ${which}: the first \`list()\``, unit: "ms", runs: summarize(firsts) });
      for (const { what, data, id } of kinds) {
        const p50: number[] = [];
        const p99: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const delays: number[] = [];
          for (let i = 0; i < CHANGES; i++) {
            delays.push(change(id(n, live), data(n), live));
            n += 1;
          }
          delays.sort((a, b) => a - b);
          p50.push(percentile(delays, 0.5));
          p99.push(percentile(delays, 0.99));
          await settle();
        }
        print(`${which}: ${what}: p50 ${p50.at(-1)?.toFixed(3)} ms, p99 ${p99.at(-1)?.toFixed(3)} ms`);
        const note = limit !== undefined && lists === 10 ? "target 1 ms" : "";
        rows.push({ what: `SDK: ${which}: ${what}, p50`, unit: "ms", runs: summarize(p50), note });
        rows.push({ what: "the same, p99", unit: "ms", runs: summarize(p99) });
      }
    }
  }
  await client.close();
  return rows;
}
