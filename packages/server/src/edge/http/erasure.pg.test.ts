import type { LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";
import { startReceiver } from "../../testing/receiver.ts";
import { follow } from "../../testing/stream/stream.ts";

const app = await startApp({ webhooks: { allowPrivate: true, schedule: [0, 60_000, 60_000] } });
const { call, keys, sql } = app;
const slides = "/v1/models/slide";
const MARK = "b7Qx-to-be-erased";

const erase = (id: string, more: Parameters<typeof call>[2] = {}) => call("DELETE", `${slides}/${id}?erase=true`, more);
const verbsOf = (entries: readonly LogEntry[]) => entries.map(({ verb }) => verb);

/** Each row of each table that holds the text, with the table's name. */
async function rowsWith(text: string): Promise<string[]> {
  const tables = await sql<{ name: string }>(
    "select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql<{ text: string }>(`select t::text as text from ${name} t where strpos(t::text, $1) > 0`, [
      text,
    ]);
    found.push(...rows.map((row) => `${name}: ${row.text}`));
  }
  return found;
}

const filled = (id: string, suffix: string) => ({
  json: { id, data: { deckId: "d1", title: `${MARK} title ${suffix}`, notes: `${MARK} notes ${suffix}` } },
});

test("[ER1] no table holds a value of an erased record: rows, hidden columns, log, history, receipts, answers of receivers", async () => {
  const receiver = await startReceiver();
  receiver.always((_, response) => void response.writeHead(500).end(`${MARK} echoed`));
  const { body: endpoint } = await call("POST", "/v1/webhook_endpoints", { json: { url: receiver.url } });
  receiver.secrets = [String(endpoint.secret)];
  // Of an earlier life under the same id, too.
  await call("POST", slides, filled("e1", "first"));
  await call("DELETE", `${slides}/e1`);
  await call("POST", slides, filled("e1", "second"));
  const { stamp } = (await call("GET", "/v1/log")).body as { stamp: number };
  await call("PATCH", `${slides}/e1`, { json: { data: { title: `${MARK} newer` } } });
  await call("POST", `${slides}/e1/archive`);
  const held = { data: { title: "held" }, readAt: stamp, onStale: "notify", clientTxId: "held-1" };
  const answer = await call("PATCH", `${slides}/e1`, { json: held });
  expect(JSON.stringify(answer.body.notifications)).toContain(MARK);
  await sql(`update holdfast.record set hidden = json_build_object('old', $1::text) where id = 'e1'`, [MARK]);
  await until(async () => expect(await rowsWith(`${MARK} echoed`)).not.toEqual([]));
  await call("POST", slides, { json: { id: "stays", data: { deckId: "d1", title: "stays" } } });
  expect((await rowsWith(MARK)).length).toBeGreaterThan(6);

  receiver.always(204);
  expect((await erase("e1")).body).toMatchObject({ status: "confirmed", success: true });
  expect(await rowsWith(MARK)).toEqual([]);
  expect((await call("GET", `${slides}/e1`)).status).toBe(404);
  expect((await call("GET", `${slides}/stays`)).body.data).toMatchObject({ title: "stays" });
  const replayed = await call("PATCH", `${slides}/e1`, { json: held });
  expect(replayed.body).toEqual({
    ...answer.body,
    notifications: [{ ...(answer.body.notifications as object[])[0], currentValues: {} }],
  });
  await call("DELETE", `/v1/webhook_endpoints/${endpoint.id}`);
});

test("[ER6] streams report the erasure, and a reader that catches up later gets none of the values, from any process", async () => {
  const other = await app.another();
  const { stamp } = (await call("GET", "/v1/log")).body as { stamp: number };
  const live = await follow(app.url, keys.live, { since: stamp });
  const far = await follow(other.server.url, keys.live, { since: stamp });
  await call("POST", slides, filled("e6", ""));
  const { body: updated } = await call("PATCH", `${slides}/e6`, { json: { data: { title: `${MARK} two` } } });
  // Both processes now have this page of the log in memory.
  for (const url of [app.url, other.server.url]) {
    const reader = await follow(url, keys.live, { since: stamp });
    await reader.reaches(Number(updated.lastSyncId));
    expect(JSON.stringify(reader.entries)).toContain(MARK);
    await reader.close();
  }
  const { body } = await erase("e6");
  const position = Number(body.lastSyncId);
  for (const stream of [live, far]) {
    await stream.reaches(position);
    expect(stream.entries.at(-1)).toMatchObject({ verb: "erased", model: "slide", id: "e6", data: null });
    expect(stream.faults).toEqual([]);
  }
  for (const url of [app.url, other.server.url]) {
    const late = await follow(url, keys.live, { since: stamp });
    await late.reaches(position);
    expect(JSON.stringify(late.entries)).not.toContain(MARK);
    expect(verbsOf(late.entries)).toEqual(["created", "updated", "erased"]);
    expect(late.entries.map(({ erased }) => erased)).toEqual([true, true, undefined]);
    await late.close();
  }
  await live.close();
  await far.close();
});

test("[ER7] a batch of a webhook that failed goes out anew under another id, with the erasure and without what was erased", async () => {
  const receiver = await startReceiver();
  receiver.always(500);
  const { body: endpoint } = await call("POST", "/v1/webhook_endpoints", { json: { url: receiver.url } });
  receiver.secrets = [String(endpoint.secret)];
  await call("POST", "/v1/commits", {
    json: {
      operations: [
        { action: "create", model: "slide", id: "e7", data: { deckId: "d1", title: MARK } },
        { action: "create", model: "slide", id: "e7b", data: { deckId: "d1", title: "kept" } },
      ],
    },
  });
  await until(() => expect(receiver.received).toHaveLength(1));
  await until(async () =>
    expect((await call("GET", `/v1/webhook_endpoints/${endpoint.id}`)).body.nextAttemptAt).not.toBeNull(),
  );
  receiver.always(200);
  await erase("e7");
  await until(() =>
    expect(receiver.received.slice(1).flatMap(({ events }) => events.map(({ type }) => type))).toEqual([
      "slide.created",
      "slide.erased",
    ]),
  );
  const [first, ...again] = receiver.received;
  expect(JSON.stringify(first?.events)).toContain(MARK);
  expect(JSON.stringify(again.map(({ events }) => events))).not.toContain(MARK);
  expect(again.map(({ id }) => id)).not.toContain(first?.id);
  expect(again.at(-1)?.events.at(-1)).toMatchObject({ type: "slide.erased", objectId: "e7", data: null });
  await call("DELETE", `/v1/webhook_endpoints/${endpoint.id}`);
});

test("[ER2] a value that one request writes while another erases the record is in no place either", async () => {
  for (let round = 0; round < 10; round++) {
    const id = `race${round}`;
    await Promise.all([
      call("POST", slides, filled(id, "")),
      call("PATCH", `${slides}/${id}`, { json: { data: { title: `${MARK} race` } } }),
      erase(id),
      call("PATCH", `${slides}/${id}`, { json: { data: { title: `${MARK} race 2` } } }),
    ]);
    await erase(id);
  }
  expect(await rowsWith(MARK)).toEqual([]);
});
