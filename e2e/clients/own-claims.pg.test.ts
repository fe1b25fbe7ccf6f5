import { createClient } from "@holdfast/sdk/node";
import { expect, test } from "vitest";
import { closedInTheEnd, schema, startPeople } from "./people.ts";

const { agent, request, url } = await startPeople();
const claimsOn = async (id: string) =>
  (await request("GET", `/v1/claims?model=slide&id=${id}`)).claims as { actor: string }[];
const make = (...ids: string[]) =>
  Promise.all(ids.map((id) => request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: "Base" } })));

test("[U19] the next process with a store finds the claims of the previous one and releases them", async () => {
  await make("o1", "o2", "o3");
  const before = await agent("robot", { clientId: "store-1" });
  const left = await before.client.models.slide.claim("o1");
  await before.client.models.slide.claim("o2", { field: "title" });
  const elsewhere = await agent("robot", { clientId: "store-2" });
  await elsewhere.client.models.slide.claim("o3");
  const other = await agent("other");
  await other.client.models.slide.claim("o2", { field: "order" });
  // They are in use by the client that holds them.
  const own = await before.client.claims.mine();
  expect(own.flatMap(({ isInUse, target }) => (isInUse ? [target.id] : [])).sort()).toEqual(["o1", "o2"]);

  // The process was killed: nothing was released, and the next one has its store.
  const next = closedInTheEnd(createClient({ schema, url, getToken: () => before.token, clientId: "store-1" }));
  // At once: it does not matter whether rows were read.
  const found = await next.claims.mine();
  const shown = found.map(({ target, isInUse, isOfThisStore }) => [target.id, isInUse, isOfThisStore]);
  expect(shown.sort()).toEqual([
    ["o1", false, true],
    ["o2", false, true],
    ["o3", false, false],
  ]);
  for (const claim of found) if (claim.isOfThisStore) await claim.release();
  expect(await claimsOn("o1")).toEqual([]);
  expect(await claimsOn("o2")).toMatchObject([{ actor: "other" }]);
  expect(await claimsOn("o3")).toMatchObject([{ actor: "robot" }]);
  expect(await left.lost).toMatchObject({ code: "claim_lost", reason: "released" });
});

test("[U19] queued writes under a claim reach the server before the claim is released", async () => {
  await make("w1");
  const { token, client } = await agent("writer", { clientId: "store-3" });
  const lease = await client.models.slide.claim("w1");
  const next = closedInTheEnd(createClient({ schema, url, getToken: () => token, clientId: "store-3" }));
  await next.ready();
  const [claim] = await next.claims.mine();
  next.pause();
  const write = next.models.slide.update("w1", { title: "Under it" }, { claim: lease });
  const released = claim?.release();
  next.resume();
  await released;
  await write.receipt;
  expect(next.conflicts()).toEqual([]);
  expect(await claimsOn("w1")).toEqual([]);
});

test("[U19] claims beyond the first page are found", async () => {
  const ids = Array.from({ length: 120 }, (_, n) => `p${n}`);
  await make(...ids);
  const { client, token } = await agent("many");
  for (const id of ids) await request("POST", `/v1/models/slide/${id}/claim`, {}, token);
  expect((await client.claims.mine()).map(({ target }) => target.id).sort()).toEqual([...ids].sort());
});

test("[U19] an unreachable server is an error, and another call tries again", async () => {
  const client = createClient({ schema, url, getToken: () => "none", clientId: "store-4" });
  await expect(client.claims.mine()).rejects.toMatchObject({ name: "SyncError", then: "sign-in" });
  await client.close();
});
