import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { createClient } from "@holdfast/sdk/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endTogether } from "../../scripts/testing/end-together.ts";
import { until } from "../../scripts/testing/until.ts";
import { closedInTheEnd, schema, startPeople } from "./people.ts";

const people = await startPeople();
const { person, agent, request } = people;
let ann: Awaited<ReturnType<typeof person>>;
let made = 0;

/** A proxy that keeps the frames to sockets back from a moment on, and passes on everything else. */
async function holdingSockets(url: string) {
  const { hostname, port } = new URL(url);
  let isHolding = false;
  let held = 0;
  const proxy = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) });
    let isSocket = false;
    client.on("data", (bytes) => {
      isSocket ||= bytes.subarray(0, 4096).toString("latin1").toLowerCase().includes("upgrade: websocket");
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (isSocket && isHolding) held += 1;
      else client.write(bytes);
    });
    endTogether(client, upstream);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  afterAll(() => void proxy.close());
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    hold: () => {
      isHolding = true;
    },
    held: () => held,
  };
}

beforeAll(async () => {
  ann = await person("ann");
});

/** A record that Ann has claimed. */
async function claimedByAnn() {
  const id = `g${++made}`;
  await request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: "Base" } });
  const lease = await ann.client.models.slide.claim(id);
  return { id, lease };
}

test("[U17] [A24] over HTTP alone a granted waiter has the previous holder's last write", async () => {
  const ben = await agent("ben", { stream: false });
  for (let round = 0; round < 5; round++) {
    const { id, lease } = await claimedByAnn();
    const waiting = ben.client.models.slide.claim(id, { queue: true });
    await lease.update({ title: `Last of ${round}` }).receipt;
    await lease.release();
    await using mine = await waiting;
    expect(ben.client.models.slide.get(id)?.title).toBe(`Last of ${round}`);
    expect(mine.fence).toBeGreaterThan(lease.fence);
  }
});

test("[U17] with a stream that brings nothing any more, a granted waiter has the last write without waiting for the stream", async () => {
  const { token } = await agent("cem");
  const { url, hold, held } = await holdingSockets(people.url);
  const cem = closedInTheEnd(createClient({ schema, url, getToken: () => token }));
  await cem.ready();
  await until(() => expect(cem.status().name).toBe("online"));
  hold();
  const { id, lease } = await claimedByAnn();
  await lease.update({ title: "Last" }).receipt;
  await lease.release();
  await until(() => expect(held()).toBeGreaterThan(0));
  expect(cem.models.slide.get(id)).toBeUndefined();
  await using _ = await cem.models.slide.claim(id);
  expect(cem.models.slide.get(id)?.title).toBe("Last");
});

test("[U18] [A25] a preempted holder learns who took the claim", async () => {
  const bob = await agent("bob");
  const boss = await person("boss", { operations: ["slide.*", "claim.preempt"] });
  const id = `g${++made}`;
  await request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: "Base" } });
  const lease = await bob.client.models.slide.claim(id);
  await using _ = await boss.client.models.slide.claim(id, { preempt: true });
  const error = await lease.lost;
  expect(error).toMatchObject({ code: "claim_lost", reason: "preempted" });
  expect(error.claims).toMatchObject([{ participantKind: "user", actor: "boss" }]);
  expect(error.message).toContain("It is now held by user boss.");
});

test("[A25] a participant that may no longer see the record does not learn its holder", async () => {
  const dan = await agent("dan");
  const id = `g${++made}`;
  await request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: "Base" } });
  const lease = await dan.client.models.slide.claim(id, { field: "title" });
  await request("PATCH", `/v1/models/slide/${id}`, { data: { deckId: "d9" } });
  const rights = { operations: ["slide.*", "claim.preempt"], syncGroups: ["deck:d9"] };
  const { token } = await request("POST", "/v1/ephemeral_keys", { user: { id: "chief" }, ...rights });
  await request("POST", `/v1/models/slide/${id}/claim`, { field: "title", preempt: true }, String(token));
  const error = await lease.lost;
  expect(error).toMatchObject({ code: "claim_lost", reason: "preempted" });
  expect(error.claims).toBeUndefined();
});
