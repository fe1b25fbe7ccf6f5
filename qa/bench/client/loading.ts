import { setTimeout as sleep } from "node:timers/promises";
import { defineSchema } from "@holdfast/sdk";
import { createClient } from "@holdfast/sdk/node";
import { askJson } from "../../../scripts/testing/ask-json.ts";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { openLine } from "../stage/line.ts";
import { type Options, openStage } from "../stage/stage.ts";

const ROUND_TRIP_MS = 50;
const PARTS = 20;
const ROWS = 20_000;
const ADDED = 100;
const RETURNING = 50;

const schema = defineSchema({
  models: { slide: { fields: { deckId: { type: "string", index: true }, title: { type: "string" } } } },
});

/** Parts that come and go on an open socket, on a line of 50 ms. */
export async function measureLoading({ rounds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const database = stage.postgres.url;
  const server = await stage.server({ databaseUrl: database });
  const token = server.tokens[0] as string;
  await askJson(`${server.url}/v1/schema`, token, "POST", { models: schema.models, force: true });
  await stage.sql(
    database,
    `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
     select (select tenant from holdfast.head where schema_version > 0), 'slide', md5(n::text), 1,
       json_build_object('id', md5(n::text), 'deckId', case when n <= ${ROWS} then 'd' || n % ${PARTS} else 'added' || (n - ${ROWS} - 1) / ${ADDED} end, 'title', 'Slide ' || n),
       array[]::text[], 1, 'system:key_filler', now(), now(), 'system:key_filler' from generate_series(1, ${ROWS + rounds * ADDED}) n`,
  );
  await stage.sql(database, "vacuum analyze holdfast.record");
  const found: Record<"added" | "bytes" | "sockets" | "requests" | "returned", number[]> = {
    ...{ added: [], bytes: [], sockets: [], requests: [], returned: [] },
  };
  for (let n = 0; n < rounds; n++) {
    const line = await openLine(new URL(server.url), { delayMs: ROUND_TRIP_MS / 2 });
    const client = createClient({
      ...{ schema, url: line.url, getToken: () => token, follow: { where: { slide: [] } } },
      releasedParts: 0,
    });
    const load = (deckId: string) => client.load("slide", { deckId });
    await Promise.all(Array.from({ length: PARTS }, (_, i) => load(`d${i}`).ready));
    await quiet(line);
    const { closed } = line.connections();
    const [received, start] = [line.received(), performance.now()];
    const added = load(`added${n}`);
    await added.ready;
    found.added.push(performance.now() - start);
    const { length } = client.models.slide.list({ where: { deckId: `added${n}` } });
    if (length !== ADDED) throw new Error(`The client has ${length} of ${ADDED} rows.`);
    found.bytes.push((line.received() - received) / ADDED);
    await quiet(line);
    found.sockets.push(line.connections().closed - closed);
    const requests = line.requests();
    // A released part goes with the next one that comes.
    added.release();
    await load("none").ready;
    await quiet(line);
    if (client.models.slide.list({ where: { deckId: `added${n}` } }).length > 0)
      throw new Error("The part has not gone.");
    found.requests.push(line.requests() - requests);
    await Promise.all(Array.from({ length: RETURNING - PARTS - 1 }, (_, i) => load(`none${i}`).ready));
    await quiet(line);
    found.returned.push(await returned(client, line));
    await client.close();
    line.close();
    print(
      `round ${n + 1} of ${rounds}: ${JSON.stringify(Object.values(found).map((runs) => runs.at(-1)?.toFixed(1)))}`,
    );
  }
  const per = `of ${ROUND_TRIP_MS} ms`;
  const beside = `a part of ${ADDED} rows beside ${PARTS} parts with ${ROWS.toLocaleString("en-US")} rows`;
  const trips = (runs: readonly number[]) => summarize(runs.map((ms) => ms / ROUND_TRIP_MS));
  return [
    { what: `${beside}, until it can be read`, unit: `round trips ${per}`, runs: trips(found.added), note: "target 2" },
    { what: `${beside}: bytes received per row of it`, unit: "B", runs: summarize(found.bytes), note: "" },
    { what: `${beside}: sockets closed`, unit: "", runs: summarize(found.sockets), note: "target 0" },
    {
      what: "leaving it, and reading an empty part: requests",
      unit: "",
      runs: summarize(found.requests),
      note: "target 1",
    },
    {
      ...{ what: `a client with ${RETURNING} parts returns, from its socket's handshake until all is complete` },
      ...{ unit: `round trips ${per}`, runs: trips(found.returned), note: "target 1 after the handshake" },
    },
  ];
}

type Line = Awaited<ReturnType<typeof openLine>>;

/** Nothing has come for a while. */
async function quiet(line: Line): Promise<void> {
  for (let before = -1; before !== line.received(); await sleep(6 * ROUND_TRIP_MS)) before = line.received();
}

/** From when the line has the new connection: the handshake of the socket is in it. */
async function returned(
  client: { ready(of: { rows: "complete" }): Promise<void>; status(): { readonly rows: string } },
  line: Line,
): Promise<number> {
  const { opened } = line.connections();
  line.cut();
  while (client.status().rows === "complete") await sleep(1);
  while (line.connections().opened === opened) await sleep(1);
  const start = performance.now();
  await client.ready({ rows: "complete" });
  return performance.now() - start;
}
