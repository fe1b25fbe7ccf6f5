import { createTestServer } from "@holdfast/sdk/testing";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { Options } from "../stage/stage.ts";
import { fillModel } from "./fill-model.ts";

const ROWS = 10_000;
const CHANGES = 200;
const PROJECTS = 100;

const schema = {
  models: {
    task: { fields: { title: { type: "string" }, project: { type: "string" }, order: { type: "number" } } },
  },
} as const;

/** What a change costs when many components each show a list of their own: a subscriber for each, as hooks have it. */
export async function measureMountedLists({ rounds, print }: Options): Promise<Row[]> {
  const { server, client: open, settle } = createTestServer(schema);
  fillModel(server, "task", ROWS, (n) => ({
    ...{ id: `t${n}`, data: { title: `Task ${n}`, project: `p${n % PROJECTS}`, order: n } },
  }));
  const rows: Row[] = [];
  for (const count of [200, 201, 1_000]) {
    const { client, connection } = open({ actor: `a${count}` });
    await client.ready();
    await settle();
    const { task } = client.models;
    let shown = 0;
    const first = process.cpuUsage();
    for (let i = 0; i < count; i++) {
      const where = { project: `p${i % PROJECTS}` };
      const limit = 50 + Math.floor(i / PROJECTS);
      const read = () => task.list({ where, orderBy: "order", limit });
      read();
      client.subscribe(() => {
        shown += read().length;
      });
    }
    const firstMs = cpuMsSince(first);
    connection.quiet = true;
    const runs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = process.cpuUsage();
      for (let i = 0; i < CHANGES; i++) {
        const from = server.head;
        const data = { order: (1_000 * count + round) * ROWS + i + 0.5 };
        const operations = [{ action: "update" as const, model: "task", id: `t${(i * 613) % ROWS}`, data }];
        server.commit({ clientTxId: `c${count}-${round}-${i}`, operations }, "ben");
        connection.say({ frame: "entries", from, to: server.head, entries: server.log.slice(from) });
      }
      if (client.status().syncId !== server.head) throw new Error("The changes did not arrive.");
      runs.push(cpuMsSince(before) / CHANGES);
      print(`${count} mounted lists: ${runs.at(-1)?.toFixed(2)} ms CPU a change`);
    }
    if (shown === 0) throw new Error("No list was read.");
    rows.push({
      what: `SDK: ${count.toLocaleString("en-US")} lists of some of ${ROWS.toLocaleString("en-US")} rows, read for the first time, CPU together`,
      ...{ unit: "ms", runs: summarize([firstMs]) },
      note: count === 1_000 ? "target 300 ms" : "",
    });
    rows.push({
      what: `SDK: a change, ${count.toLocaleString("en-US")} mounted lists over ${ROWS.toLocaleString("en-US")} rows, CPU`,
      unit: "ms",
      runs: summarize(runs),
      note: count === 1_000 ? "target 10 ms" : "",
    });
    await client.close();
  }
  return rows;
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
