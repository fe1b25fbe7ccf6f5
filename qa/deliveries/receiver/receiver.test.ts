import { request } from "node:http";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../scripts/testing/until.ts";
import type { Outcome, Received } from "../judge/evidence.ts";
import { BEHAVIOURS, type Behaviour } from "./behaviour.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { openRecords, receivedOf } from "./records.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const DEADLINE_MS = 1_500;
const BODY = JSON.stringify({ data: ["ü – 日本 😀"] });

const folder = temporaryFolder("receiver");
const killed: number[] = [];
const receiver: Receiver = await startReceiver({ folder, seed: 1, onKilled: (at) => killed.push(at) });
afterAll(async () => {
  await receiver.close();
});

/** Sends a request like a sender. Returns the status, or the reason why there was none. */
function send(hook: string, id: string): Promise<number | string> {
  const timestamp = new Date();
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(timestamp.getTime() / 1_000)),
    "webhook-signature": new Webhook(SECRET).sign(id, timestamp, BODY),
    "content-length": Buffer.byteLength(BODY),
  };
  return new Promise((resolve) => {
    const sent = request(receiver.addressOf(hook), { method: "POST", headers, agent: false });
    const timer = setTimeout(() => {
      sent.destroy();
      resolve("timeout");
    }, DEADLINE_MS);
    const done = (how: number | string) => {
      clearTimeout(timer);
      resolve(how);
    };
    sent.on("response", (response) => {
      response.on("error", () => {});
      response.resume();
      response.on("end", () => done(response.statusCode ?? 0));
      setTimeout(() => response.destroy(), DEADLINE_MS / 2);
      response.on("close", () => done(response.statusCode ?? 0));
    });
    sent.on("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    sent.end(BODY);
  });
}

const records = openRecords(folder);
/** The records of a request, once it has ended. */
async function noted(id: string): Promise<Received> {
  return await until(() => {
    records.read();
    records.verify((hook) =>
      hook === "unknown" ? undefined : [`whsec_${Buffer.alloc(32, 1).toString("base64")}`, SECRET],
    );
    const note = [...records.notes.values()].find(({ begun }) => begun.headers["webhook-id"] === id);
    const isOver = note?.ended || (note && note.generation < receiver.ends.length);
    if (!note || !isOver) throw new Error(`The request ${id} has not ended.`);
    return receivedOf(note, "we_1", 2 * DEADLINE_MS, (n) => receiver.ends[n] as number);
  });
}

const outcomes: Partial<Record<Behaviour, Outcome>> = {
  "200": "accepted",
  "204": "accepted",
  "299": "accepted",
  "204 after a while": "accepted",
  "204 after early hints": "accepted",
  "200, a byte a second": "accepted",
  "200, with a huge body": "accepted",
  "204, and the senders are killed": "accepted",
  "200, and a reset in the body": "unknown",
  "204, and dead": "unknown",
};
const deadly: readonly Behaviour[] = ["204, and dead", "dead"];
const names = Object.keys(BEHAVIOURS).filter((name) => name !== "held") as Behaviour[];

test("each misbehaviour matches its name and is recorded", async () => {
  for (const behaviour of [...names.filter((name) => !deadly.includes(name)), ...deadly]) {
    await receiver.script("a", [behaviour]);
    const response = await send("a", behaviour);
    const { outcome, body, signedBy, ended, begun, arrived } = await noted(behaviour);
    expect(outcome, behaviour).toBe(outcomes[behaviour] ?? "failed");
    if (outcome !== "unknown")
      expect(Math.floor(Number(response) / 100) === 2, `${behaviour}: ${response}`).toBe(outcome === "accepted");
    expect(body, behaviour).toBe(behaviour === "reset before it is read" ? undefined : BODY);
    expect(signedBy, behaviour).toEqual(body === undefined ? undefined : [1]);
    expect(arrived < begun && begun < ended, behaviour).toBe(true);
  }
  expect(killed).toHaveLength(2);
  await receiver.script("a", []);
  expect(receiver.ends).toHaveLength(2);
  expect(receiver.absences).toHaveLength(2);
  expect(records.strays).toEqual([]);
});

test("a held request continues as ordered", async () => {
  await receiver.script("b", ["held"]);
  const response = send("b", "held-1");
  const { resume } = await receiver.holds("b");
  await resume("299");
  expect(await response).toBe(299);
});

test("unexpected requests are recorded", async () => {
  await fetch(receiver.addressOf("b").replace("/hooks/b", "/elsewhere"));
  records.read();
  expect(records.strays).toEqual(["GET /elsewhere"]);
});

test("a request without a signature, or with an unknown secret, is not verified", async () => {
  await send("unknown", "unknown-1");
  expect((await noted("unknown-1")).signedBy).toEqual([]);
});
