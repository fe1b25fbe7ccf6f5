import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { defineSchema, type FollowScope } from "@holdfast/sdk";
import { createClient } from "@holdfast/sdk/node";
import { askJson } from "../../../scripts/testing/ask-json.ts";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { type Options, openStage } from "../stage/stage.ts";

const ROWS = 1_000_000;
const PROJECTS = 200;
const FOLLOWED = ROWS / PROJECTS;
const OUTSIDE = 1_000;

const schema = defineSchema({
  models: {
    issue: {
      fields: {
        title: { type: "string" },
        projectId: { type: "string", index: true },
        order: { type: "integer" },
        notes: { type: "string" },
      },
      groups: [{ kind: "project", from: "projectId" }],
    },
  },
});

/** A client that follows one project of two hundred, by its field or by its group: its first rows and its memory. */
export async function measureFollowedPart({ rounds, print }: Options): Promise<Row[]> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await using stage = await openStage();
  const database = stage.postgres.url;
  const server = await stage.server({ databaseUrl: database });
  const token = server.tokens[0] as string;
  const post = (path: string, body: unknown) => askJson(server.url + path, token, "POST", body);
  await post("/v1/schema", { models: schema.models, force: true });
  print(`filling in ${ROWS.toLocaleString("en-US")} rows …`);
  await stage.sql(
    database,
    `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
     select (select tenant from holdfast.head where schema_version > 0), 'issue', md5(n::text), 1,
       json_build_object('title', 'Issue ' || n, 'projectId', 'p' || n % ${PROJECTS}, 'order', n, 'notes', repeat('n', 200)),
       array['project:p' || n % ${PROJECTS}], 1, 'system:key_filler', now(), now(), 'system:key_filler' from generate_series(1, ${ROWS}) n`,
  );
  await stage.sql(database, "vacuum analyze holdfast.record");
  const isIndexed = async () =>
    (await stage.sql(database, "select from pg_index where indrelid = 'holdfast.record'::regclass and indisvalid"))
      .length > 2;
  const open = (follow: FollowScope<typeof schema>) =>
    createClient({ schema, url: server.url, getToken: () => token, follow });
  const deadline = performance.now() + 120_000;
  while (!(await isIndexed()) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 500));

  const found: Record<"first" | "byGroup" | "memory", number[]> = { first: [], byGroup: [], memory: [] };
  for (let n = 0; n < rounds; n++) {
    collect();
    const before = process.memoryUsage().heapUsed;
    const start = performance.now();
    const client = open({ where: { issue: { projectId: `p${n}` } } });
    await client.ready({ rows: "complete" });
    found.first.push(performance.now() - start);
    found.byGroup.push(await untilReady(open({ groups: [`project:p${n}`] })));
    const { length } = client.models.issue.list({ limit: 50 });
    if (length !== 50) throw new Error("The list is empty.");
    await new Promise((resolve) => setTimeout(resolve, 500));
    collect();
    found.memory.push((process.memoryUsage().heapUsed - before) / 2 ** 20);
    const { syncId: from } = client.status();
    const operations = (k: number) =>
      Array.from({ length: 10 }, (_, i) => ({
        ...{ action: "create", model: "issue", id: `o${n}-${k}-${i}` },
        data: { title: "outside", projectId: "other", order: i, notes: "n".repeat(200) },
      }));
    for (let k = 0; k < OUTSIDE / 10; k++) await post("/v1/commits", { operations: operations(k) });
    while ((client.status().syncId ?? 0) < (from ?? 0) + OUTSIDE)
      await new Promise((resolve) => setTimeout(resolve, 10));
    const all = client.models.issue.list();
    if (all.length !== FOLLOWED) throw new Error(`The client has ${all.length} of ${FOLLOWED} rows.`);
    await client.close();
    print(
      `round ${n + 1} of ${rounds}: ${found.first.at(-1)?.toFixed(0)} ms, by group ${found.byGroup.at(-1)?.toFixed(0)} ms, ${found.memory.at(-1)?.toFixed(1)} MiB`,
    );
  }
  const rows = FOLLOWED.toLocaleString("en-US");
  const all = ROWS.toLocaleString("en-US");
  const which = `${rows} of ${ROWS.toLocaleString("en-US")} rows, by an indexed field`;
  return [
    { what: `${which}: until all can be read`, unit: "ms", runs: summarize(found.first), note: "target 300 ms" },
    {
      ...{ what: `${rows} of ${all} rows, by the group that the field names`, unit: "ms" },
      ...{ runs: summarize(found.byGroup), note: "target 300 ms" },
    },
    { what: "heap of the client with them", unit: "MiB", runs: summarize(found.memory), note: "target 10 MB" },
  ];
}

async function untilReady(client: { ready(options: { rows: "complete" }): Promise<void>; close(): Promise<void> }) {
  const start = performance.now();
  await client.ready({ rows: "complete" });
  const took = performance.now() - start;
  await client.close();
  return took;
}
