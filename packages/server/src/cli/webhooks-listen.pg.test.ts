import type { WebhookEvent } from "@holdfast/sdk/protocol";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { newMasterKey, startServer } from "../server.ts";
import { ADMIN, startApp } from "../testing/app.ts";
import { commandLine, type Running } from "../testing/programs/command-line.ts";
import { type Receiver, type Reply, startReceiver } from "../testing/receiver.ts";

const app = await startApp();
const { call } = app;
const folder = temporaryFolder("listen");
const { start, begin, run } = commandLine(app, folder);

const head = async () => Number((await call("GET", "/v1/log?after=1&limit=1")).body.stamp);
const secretOf = ({ texts }: Running) => /^Signing secret: (whsec_\S+)$/m.exec(texts.out)?.[1] ?? "";
/** The command has read the head of the log, so later writes come after it. */
const ready = async (running: Running) => {
  await until(() => expect(running.texts.err).toMatch(/ → http/));
  return running;
};
let made = 0;
const write = async (title = "x", model = "slide") => {
  const id = `listened-${++made}`;
  const { body } = await call("POST", `/v1/models/${model}`, { json: { id, data: { title } } });
  return { id, syncId: Number(body.lastSyncId) };
};
const eventsAt = ({ received }: Receiver): WebhookEvent[] => received.flatMap(({ events }) => [...events]);
const told = (receiver: Receiver) => eventsAt(receiver).map(({ type, objectId }) => `${type} ${objectId}`);
const lines = (text: string) => text.trim().split("\n").slice(1);
/** It listens, and the receiver verifies with its secret from the first request on. */
async function begun(receiver: Receiver, ...words: string[]): Promise<Running> {
  const listening = await ready(begin("webhooks", "listen", "--forward", receiver.url, ...words));
  receiver.secrets = [secretOf(listening)];
  return listening;
}

test("[W60] commits reach the handler as the server would send them, signed; Ctrl-C exits with 0", async () => {
  const receiver = await startReceiver();
  await write("before");
  const listening = await ready(start(["webhooks", "listen", "--forward", receiver.url]));
  receiver.secrets = [secretOf(listening)];
  const { id, syncId } = await write("é 😀");
  await call("PATCH", `/v1/models/slide/${id}`, { json: { data: { title: "two" } } });
  await call("POST", `/v1/models/slide/${id}/archive`);
  await call("POST", `/v1/models/slide/${id}/unarchive`);
  await call("DELETE", `/v1/models/slide/${id}`);
  const other = await write("another model", "document");
  await until(async () => expect(await eventsAt(receiver).length).toBe(6));
  expect(told(receiver)).toEqual([
    ...["created", "updated", "archived", "unarchived", "deleted"].map((verb) => `slide.${verb} ${id}`),
    `document.created ${other.id}`,
  ]);
  const log = (await call("GET", `/v1/log?after=${syncId - 1}`)).body.data as Record<string, unknown>[];
  expect(receiver.refused).toEqual([]);
  expect(eventsAt(receiver)).toEqual(
    log.map(({ model, verb, id: objectId, data, syncId: at, createdAt, actor, participantKind }) => ({
      type: `${model}.${verb}`,
      model,
      objectId,
      data,
      syncId: at,
      id: String(at),
      createdAt,
      actor,
      participantKind,
    })),
  );
  for (const { id: webhookId, events } of receiver.received)
    expect(webhookId).toBe(`msg_local_1_${events[0]?.syncId}_${events.at(-1)?.syncId}`);
  await until(async () => expect(await lines(listening.texts.out).length).toBe(receiver.received.length));
  for (const line of lines(listening.texts.out)) expect(line).toMatch(/ {2}\d+ events? \(.*\) {2}204 {2}\d+ ms$/);
  // Twice, as it comes where a shell and `npm run` both pass it on.
  for (let times = 0; times < 2; times++) listening.interrupt();
  const { code, err } = await listening.ended;
  expect(code).toBe(0);
  expect(err).toEqual(expect.stringMatching(`--from ${await head()} to continue\\.\n$`));
});

test("[W60] --from begins behind a position, --events names the models, in any case", async () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
  const receiver = await startReceiver();
  receiver.secrets = [secret];
  const from = await head();
  const [first] = [await write("a"), await write("b", "document")];
  for (let n = 0; n < 3; n++)
    await call("POST", "/v1/commits", {
      json: {
        operations: Array.from({ length: 80 }, (_, i) => ({
          action: "create",
          model: "slide",
          id: `many-${made}-${n}-${i}`,
          data: {},
        })),
      },
    });
  const words = ["webhooks", "listen", "--forward", receiver.url, "--events", "SLIDE", "--from", String(from)];
  const listening = begin("--json", ...words, "--secret", secret);
  await until(async () => expect(await eventsAt(receiver).length).toBe(241));
  const told = eventsAt(receiver);
  expect(told[0]?.objectId).toEqual(first.id);
  expect(receiver.refused).toEqual([]);
  expect(told.every(({ model }) => model === "slide")).toBe(true);
  const ids = told.map(({ syncId }) => syncId);
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  expect(receiver.received.map(({ events }) => events.length)).toEqual([100, 100, 41]);
  await until(async () => expect(await lines(listening.texts.out).length).toBe(3));
  listening.interrupt();
  const { code, out, err } = await listening.ended;
  expect(code).toBe(0);
  expect(err).toEqual(expect.stringContaining(`after position ${await head()}`));
  const [opened, ...sent] = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(opened).toEqual({ object: "webhook_listener", forward: receiver.url, secret, from });
  expect(sent.map(({ webhookId, events, status, attempt }) => [webhookId, events, status, attempt])).toEqual(
    receiver.received.map(({ id, events }) => [id, events.length, 204, 1]),
  );
});

test("[W60] a token that may read is enough, and gets the events in its scope", async () => {
  const { token } = await app.capability({ operations: ["slide.read"], syncGroups: ["deck:listened"] });
  const receiver = await startReceiver();
  const listening = await begun(receiver, "--key", token);
  await write("hidden");
  await call("POST", "/v1/models/slide", { json: { id: "seen", data: { deckId: "listened" } } });
  await until(async () => expect(await told(receiver)).toEqual(["slide.created seen"]));
  listening.interrupt();
  expect((await listening.ended).code).toBe(0);
});

test("[W61] the same batch is repeated until it is accepted, and later events wait behind it", async () => {
  const receiver = await startReceiver();
  const notYet: Reply = (_, response) => void response.writeHead(500).end("not yet");
  receiver.answer(notYet, notYet);
  receiver.always((_, response) => void setTimeout(() => response.writeHead(201).end(), 50));
  const listening = await begun(receiver);
  const first = await write("poison");
  await until(() => expect(receiver.received.length).toBe(1));
  const second = await write("behind");
  await until(() => expect(receiver.received.length).toBe(4));
  expect(told(receiver)).toEqual([...Array(3).fill(first.id), second.id].map((id) => `slide.created ${id}`));
  const [a, b, c] = receiver.received;
  expect(b?.id).toEqual(a?.id);
  expect(b?.body).toEqual(a?.body);
  expect(c?.id).toEqual(a?.id);
  expect(c?.body).toEqual(a?.body);
  expect((b?.at ?? 0) - (a?.endedAt ?? 0)).toBeGreaterThanOrEqual(950);
  expect((c?.at ?? 0) - (b?.endedAt ?? 0)).toBeGreaterThanOrEqual(1_950);
  expect(receiver.mostAtOnce).toBe(1);
  expect(receiver.refused).toEqual([]);
  await until(async () => expect(await lines(listening.texts.out).length).toBe(4));
  const line = (n: number) => lines(listening.texts.out)[n];
  expect(line(0)).toMatch(/1 event \(slide\.created\) {2}500 not yet {2}\d+ ms {2}again in 1 s$/);
  expect(line(1)).toMatch(/again in 2 s$/);
  expect(line(2)).toMatch(/ {2}201 {2}\d+ ms$/);
  listening.interrupt();
  expect((await listening.ended).code).toBe(0);
});

test("[W62] handler and server may go and come back; nothing is lost or out of order", async () => {
  const receiver = await startReceiver();
  const masterKeys = [newMasterKey()];
  const server = await startServer({ databaseUrl: app.databaseUrl, adminToken: ADMIN, masterKeys, port: 0 });
  const listening = await ready(start(["webhooks", "listen", "--forward", receiver.url, "--url", server.url]));
  receiver.secrets = [secretOf(listening)];
  const written = [await write()];
  await until(() => expect(receiver.received.length).toBe(1));

  await receiver.close();
  written.push(await write());
  await until(() => expect(listening.texts.out).toMatch(/Connection refused.*again in 1 s/));
  const back = await startReceiver(Number(new URL(receiver.url).port));
  back.secrets = receiver.secrets;
  await until(async () => expect(await eventsAt(back).length).toBe(1));

  await server.close();
  written.push(await write(), await write());
  await until(() => expect(listening.texts.err).toMatch(/No server answers at .* Trying again in 1 s\./));
  const { port } = new URL(server.url);
  const again = await startServer({ databaseUrl: app.databaseUrl, adminToken: ADMIN, masterKeys, port: Number(port) });
  afterAll(() => again.close());
  await until(async () => expect(await eventsAt(back).length).toBe(3));
  expect(listening.texts.err).toMatch(/The server is available again\./);
  const ids = [receiver, back].flatMap(eventsAt).map(({ objectId }) => objectId);
  expect(ids).toEqual(written.map(({ id }) => id));
  expect(receiver.refused).toEqual([]);
  expect(back.refused).toEqual([]);

  // Restored from a dump: its positions mean something else.
  await app.sql("update holdfast.head set log_id = 'log_another' where log_id = $1", [
    (await call("GET", "/v1/identity")).body.logId,
  ]);
  await write();
  const { code, err } = await listening.ended;
  expect(code).toBe(1);
  expect(err).toEqual(expect.stringMatching(/holdfast: The server has another log now[^\n]*\n$/));
});

test("[W63] the secret is printed at the start, given or generated", async () => {
  const given = `whsec_${Buffer.alloc(64, 1).toString("base64")}`;
  for (const [words, printed] of [
    [[], /^Signing secret: whsec_[A-Za-z0-9+/]{43}=\n/],
    [["--secret", given], new RegExp(`^Signing secret: ${given.replaceAll(/[+/]/g, ".")}\n`)],
  ] as const) {
    const listening = begin("webhooks", "listen", "--forward", "http://127.0.0.1:9/", ...words);
    await ready(listening);
    expect(listening.texts.out).toMatch(printed);
    listening.interrupt();
    await listening.ended;
  }
});

test("[W60] the head is found where the log's beginning was trimmed away", async () => {
  await write();
  await app.sql("update holdfast.head set trimmed_to = 1 where sync_id = $1", [await head()]);
  const listening = begin("webhooks", "listen", "--forward", "http://127.0.0.1:9/");
  await ready(listening);
  listening.interrupt();
  expect((await listening.ended).code).toBe(0);
  expect((await run("webhooks", "listen", "--forward", "http://127.0.0.1:9/", "--from", "0")).err).toMatch(
    /resync_required/,
  );
});

test("[W64] webhooks listen that cannot start fails with a sentence, and sends nothing", async () => {
  const receiver = await startReceiver();
  const listen = (...words: string[]) => run("webhooks", "listen", ...words);
  const to = ["--forward", receiver.url];
  const refusals: [string[], RegExp][] = [
    [[], /required option '--forward <address>' not specified/],
    [["--forward", "localhost:3000"], /--forward must be an http or https URL, such as/],
    [["--forward", "http://a:b@localhost/"], /without user and password/],
    [[...to, "--secret", "whsec_short"], /--secret must be whsec_/],
    [[...to, "--from", "-1"], /--from must be a whole number \(got "-1"\)/],
    [[...to, "--from", String((await head()) + 1)], /is beyond the end of the log \(\d+\)\./],
    [[...to, "--events", "slide,nothing"], /There is no model "nothing"\. The models are: .*slide/],
    [[...to, "--events", "slide,,document"], /model names separated by commas/],
    [[...to, "--url", "http://127.0.0.1:9"], /No server answers at http:\/\/127\.0\.0\.1:9/],
    [[...to, "--key", "sk_live_nothing"], /apikey_invalid/],
  ];
  for (const [words, sentence] of refusals) {
    const { code, err } = await listen(...words);
    expect(code).toBe(1);
    expect(err).toEqual(expect.stringMatching(sentence));
  }
  expect(receiver.received).toEqual([]);
  const { out } = await run("webhooks", "listen", "--help");
  expect(out).toMatch(/Examples:\n {2}holdfast webhooks listen --forward http:/);
});
