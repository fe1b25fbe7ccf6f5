import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { createClient } from "@holdfast/sdk/node";
import { createWebhookHandler, type WebhookHandler } from "@holdfast/sdk/webhooks";
import { afterAll, expect, test } from "vitest";
import { connected, runSql } from "../../packages/server/src/testing/run-sql.ts";
import { endTogether } from "../../scripts/testing/end-together.ts";
import { until } from "../../scripts/testing/until.ts";
import { renewLogs } from "./moved-server.ts";
import { startOperatedServer } from "./operated-server.ts";
import { schema } from "./people.ts";

const server = await startOperatedServer({ webhooks: { allowPrivate: true } });
const { databaseUrl } = server;
const key = await server.secretKey(await server.organization("ours"));
const request = (method: string, path: string, body?: unknown, token = key) =>
  server.request(method, path, body, token);
await request("POST", "/v1/schema", schema);

/** The texts of a client's frames, which are masked. */
function framesIn(bytes: Buffer): string[] {
  if (bytes.length < 6) return [];
  const short = bytes.readUInt8(1) & 127;
  const at = short === 126 ? 4 : 2;
  const end = at + 4 + (short === 126 ? bytes.readUInt16BE(2) : short);
  const mask = bytes.subarray(at, at + 4);
  const text = Buffer.from(bytes.subarray(at + 4, end).map((byte, i) => byte ^ mask.readUInt8(i % 4)));
  return [String(text), ...framesIn(bytes.subarray(end))];
}

/** A proxy that holds writes, or their responses, until they are released: in requests, and on streams. */
async function holdingGate() {
  const { hostname, port } = new URL(server.url);
  let holds: "nothing" | "writes" | "answers" = "nothing";
  let held: (() => void)[] = [];
  let cut: (() => void)[] = [];
  const gate = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) });
    let isWrite = false;
    let isStream = false;
    client.on("data", (bytes) => {
      if (isStream) isWrite ||= framesIn(bytes).some((frame) => frame.startsWith('{"frame":"call"'));
      else
        isWrite =
          bytes.toString("latin1").startsWith("POST /v1/commits") || (isWrite && !/^[A-Z]+ \//.test(String(bytes)));
      isStream ||= bytes.toString("latin1").startsWith("GET /v1/stream");
      const pass = () => void upstream.write(bytes);
      if (isWrite && holds === "writes") held.push(pass);
      else pass();
    });
    upstream.on("data", (bytes) => {
      if (!isWrite || holds !== "answers") return void client.write(bytes);
      held.push(() => {});
      cut.push(() => client.destroy());
    });
    endTogether(client, upstream);
  }).listen(0, "127.0.0.1");
  await once(gate, "listening");
  afterAll(() => void gate.close());
  return {
    url: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`,
    hold: (what: "writes" | "answers") => {
      holds = what;
    },
    isHolding: () => held.length > 0,
    /** Releases held requests: writes reach the server, responses are dropped. */
    release() {
      holds = "nothing";
      for (const pass of held) pass();
      for (const end of cut) end();
      [held, cut] = [[], []];
    },
  };
}

/** Truncates the log like a restore of an earlier backup. */
async function restoreTo(position: number): Promise<void> {
  await using client = await connected(databaseUrl);
  for (const text of [
    "begin",
    `delete from holdfast.receipt r using holdfast.log l where l.sync_id > ${position} and r.tenant = l.tenant
       and split_part(r.key, ' ', 1) = l.client_tx_id`,
    `delete from holdfast.log where sync_id > ${position}`,
    `delete from holdfast.record where created_sync_id > ${position}`,
    `update holdfast.record r set data = l.data, sync_id = l.sync_id from holdfast.log l
       where r.sync_id > ${position} and l.tenant = r.tenant and l.model = r.model and l.id = r.id
       and l.sync_id = (select max(sync_id) from holdfast.log x where x.tenant = r.tenant and x.model = r.model and x.id = r.id)`,
    `update holdfast.group_head set sync_id = least(sync_id, ${position}), other_sync_id = least(other_sync_id, ${position})`,
    `update holdfast.head set sync_id = least(sync_id, ${position}), other_sync_id = least(other_sync_id, ${position})`,
    "commit",
  ])
    await client.query(text);
  await renewLogs(databaseUrl);
}

const head = async () => Number((await request("GET", "/v1/log?limit=1")).stamp);
const titleOf = async (id: string) =>
  ((await request("GET", `/v1/models/slide/${id}`)).data as { title: string } | undefined)?.title;
const entriesOf = async (id: string) =>
  ((await request("GET", "/v1/log?limit=1000")).data as { id: string; verb: string }[]).filter(
    (entry) => entry.id === id,
  );

async function clientAt(url: string) {
  const client = createClient({ schema, url, getToken: () => key });
  afterAll(() => client.close());
  await client.ready();
  await until(() => expect(client.status().live).toBe(true));
  return client;
}

test("[R23] [C18] a write in flight during a restore with new log ids overwrites nothing that its user did not see", async () => {
  await request("POST", "/v1/models/slide", { id: "r1", data: { deckId: "d1", title: "Base" } });
  const backup = await head();
  await request("PATCH", "/v1/models/slide/r1", { data: { title: "Lost" } });
  const gate = await holdingGate();
  const ann = await clientAt(gate.url);
  await until(() => expect(ann.models.slide.get("r1")?.title).toBe("Lost"));

  gate.hold("writes");
  const write = ann.models.slide.update("r1", { title: "Ann's" });
  write.receipt.catch(() => {});
  await until(() => expect(gate.isHolding()).toBe(true));
  await restoreTo(backup);
  // At the very position that Ann had read, there is another change now.
  await request("PATCH", "/v1/models/slide/r1", { data: { title: "Ben's" } });
  gate.release();

  await until(() => expect(ann.conflicts()).toMatchObject([{ id: "r1", theirs: { title: "Ben's" } }]));
  expect(await titleOf("r1")).toBe("Ben's");
});

test("[R23] a write whose response and log entry were lost in a restore is applied once", async () => {
  await request("POST", "/v1/models/slide", { id: "r2", data: { deckId: "d1", title: "Base" } });
  const backup = await head();
  const gate = await holdingGate();
  const ann = await clientAt(gate.url);
  gate.hold("answers");
  const write = ann.models.slide.update("r2", { title: "Ann's" });
  await until(() => expect(gate.isHolding()).toBe(true));
  await restoreTo(backup);
  gate.release();
  await write.receipt;
  await ann.drain({ timeoutMs: 60_000 });
  expect(await titleOf("r2")).toBe("Ann's");
  expect((await entriesOf("r2")).map(({ verb }) => verb)).toEqual(["created", "updated"]);
});

test("[R23] a write whose response was lost, but that the restored log contains, is not applied again", async () => {
  const gate = await holdingGate();
  const ann = await clientAt(gate.url);
  gate.hold("answers");
  const write = ann.models.slide.create({ deckId: "d1", title: "Ann's" }, { id: "r3" });
  await until(() => expect(gate.isHolding()).toBe(true));
  await restoreTo(await head());
  gate.release();
  await write.receipt;
  await ann.drain({ timeoutMs: 60_000 });
  expect((await entriesOf("r3")).map(({ verb }) => verb)).toEqual(["created"]);
});

test("[W52] a receiver gets the events of a restored log at positions that it had already received", async () => {
  const taken: string[] = [];
  const names: unknown[] = [];
  let handler: WebhookHandler | undefined;
  const receiver = createHttpServer((request, response) => {
    names.push(request.headers["webhook-id"]);
    void handler?.node(request, response);
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  afterAll(() => void receiver.close());
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const from = await head();
  const { secret } = await request("POST", "/v1/webhook_endpoints", { url, enabledEvents: ["slide"], from });
  handler = createWebhookHandler({
    secret: String(secret),
    onEvent: ({ data }) => void taken.push(String((data as { title: string }).title)),
  });
  // Named anew in each try: a record that is there already makes no event.
  const write = (title: string) =>
    request("POST", "/v1/models/slide", { id: `h-${randomUUID()}`, data: { deckId: "d1", title } });
  await write("Kept");
  const backup = await head();
  await until(() => expect(taken).toEqual(["Kept"]));
  await write("Lost");
  await until(() => expect(taken).toEqual(["Kept", "Lost"]));
  // Until the delivery is noted, the note would take the place of what is restored.
  const noted = await head();
  const cursorOf = "select cursor::int from holdfast.webhook_endpoint where url = $1";
  await until(async () => expect(await runSql(databaseUrl, cursorOf, [url])).toEqual([{ cursor: noted }]));
  await runSql(databaseUrl, `update holdfast.webhook_endpoint set cursor = ${backup}`);
  await restoreTo(backup);
  await write("New");
  await until(() => expect(taken).toEqual(["Kept", "Lost", "New"]));
  // A receiver that identifies deliveries by name does not confuse it with the lost one.
  expect(new Set(names).size).toBe(names.length);
});
