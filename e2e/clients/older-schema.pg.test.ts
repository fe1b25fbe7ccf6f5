import { join } from "node:path";
import { createClient, defineSchema, fileStorage, schemaHash } from "@holdfast/sdk/node";
import { createClientOn } from "@holdfast/sdk/platform";
import { describe, expect, onTestFinished, test } from "vitest";
import { closingSocket } from "../../packages/sdk/src/node/closing-socket.ts";
import { BrowserProfile } from "../../packages/sdk/src/testing/browser-profile.ts";
import { runSql } from "../../packages/server/src/testing/run-sql.ts";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { until } from "../../scripts/testing/until.ts";
import { closedInTheEnd, startPeople } from "./people.ts";

const groups = [{ kind: "deck", from: "deckId" }] as const;
const deckId = { type: "string" } as const;
const order = { type: "number", default: 0 } as const;

/** What a page has that was loaded before the push, and one that was loaded after it. */
const older = defineSchema({
  models: { slide: { fields: { deckId, title: { type: "string" }, order }, groups } },
});
const newer = defineSchema({
  models: { slide: { fields: { deckId, heading: { type: "string" }, order }, groups } },
});
const renames = [{ model: "slide", from: "title", to: "heading" }];

/** A server of its own for each test, with the older schema. */
async function start() {
  const { url, request, person, key, databaseUrl } = await startPeople(older);
  const push = () => request("POST", "/v1/schema", { ...newer, renames });
  const token = async (id: string) => {
    const minted = await request("POST", "/v1/ephemeral_keys", { user: { id }, syncGroups: ["deck:d1"] });
    return String(minted.token);
  };
  const open = async (id: string, options = {}) => {
    const own = await token(id);
    return closedInTheEnd(createClient({ schema: newer, url, getToken: () => own, ...options }));
  };
  const openOlder = async (id: string, options = {}) => {
    const own = await token(id);
    return closedInTheEnd(createClient({ schema: older, url, getToken: () => own, ...options }));
  };
  const make = (id: string, title: string) =>
    request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title } });
  return { url, request, person, key, databaseUrl, push, token, open, openOlder, make };
}

describe("[N37] after a push that renames a field", () => {
  test("a page that stays open across it reads and writes its own names, beside a page with the new ones", async () => {
    const { person, push, open, make } = await start();
    await make("a", "Before");
    const { client: old } = await person("ann");
    const titles = () => old.models.slide.list().map(({ title }) => title);
    await until(() => expect(titles()).toEqual(["Before"]));
    await push();
    const fresh = await open("ben");
    await fresh.ready();
    const headings = () => fresh.models.slide.list().map(({ heading }) => heading);
    expect(headings()).toEqual(["Before"]);
    await old.models.slide.update("a", { title: "Of the older page" }).receipt;
    await until(() => expect(headings()).toEqual(["Of the older page"]));
    await fresh.models.slide.update("a", { heading: "Of the newer page" }).receipt;
    await until(() => expect(titles()).toEqual(["Of the newer page"]));
    await old.models.slide.create({ deckId: "d1", title: "Made by the older page" }, { id: "b" }).receipt;
    await until(() => expect(headings()).toEqual(["Of the newer page", "Made by the older page"]));
    // The newer page may hear of the write before the older one does.
    const settled = { name: "online", live: true, pending: 0, conflicts: 0, attention: 0 };
    await until(() => expect(old.status()).toMatchObject(settled));
    // Nothing of the other names has come through.
    expect(Object.keys(old.models.slide.get("a") ?? {})).not.toContain("heading");
  });

  test("what an older page has queued offline is sent by it, and lands under the new name", async () => {
    const { person, request, push, make } = await start();
    await make("a", "Before");
    const { client } = await person("ann");
    await until(() => expect(client.models.slide.list()).toHaveLength(1));
    client.pause();
    const writes = [
      client.models.slide.update("a", { title: "Offline" }),
      client.models.slide.create({ deckId: "d1", title: "New" }, { id: "b" }),
      client.models.slide.update("a", { order: 7 }),
    ];
    await Promise.all(writes.map(({ queued }) => queued));
    await push();
    client.resume();
    const receipts = await Promise.all(writes.map(({ receipt }) => receipt));
    expect(receipts.map(({ status }) => status)).toEqual(["confirmed", "confirmed", "confirmed"]);
    const { data } = await request("GET", "/v1/models/slide");
    expect(data).toMatchObject([
      { id: "a", heading: "Offline", order: 7 },
      { id: "b", heading: "New" },
    ]);
    await until(() => expect(client.status()).toMatchObject({ name: "online", pending: 0, attention: 0 }));
    expect(client.models.slide.list().map(({ title }) => title)).toEqual(["Offline", "New"]);
  });

  test("a page that was offline meets a conflict under its own names, and resolves it", async () => {
    const { person, request, push, make } = await start();
    await make("a", "Before");
    const { client } = await person("ann");
    await until(() => expect(client.models.slide.list()).toHaveLength(1));
    client.pause();
    await client.models.slide.update("a", { title: "Mine" }).queued;
    await push();
    await request("PATCH", "/v1/models/slide/a", { data: { heading: "Theirs" } });
    client.resume();
    await until(() => expect(client.conflicts()).toHaveLength(1));
    expect(client.conflicts()[0]).toMatchObject({ mine: { title: "Mine" }, theirs: { title: "Theirs" } });
    for (let again = 0; again < 3; again++) {
      for (const conflict of client.conflicts()) conflict.keepMine();
      await client.drain({ timeoutMs: 60_000 });
    }
    expect((await request("GET", "/v1/models/slide/a")).data).toMatchObject({ heading: "Mine" });
  });

  test("a page without sockets polls under its own names", async () => {
    const { push, make, openOlder } = await start();
    await make("a", "Before");
    const client = await openOlder("ann", { stream: false });
    await until(() => expect(client.models.slide.list().map(({ title }) => title)).toEqual(["Before"]));
    await push();
    await client.models.slide.update("a", { title: "After" }).receipt;
    await until(() => expect(client.models.slide.list().map(({ title }) => title)).toEqual(["After"]));
    await until(() => expect(client.status()).toMatchObject({ live: false, pending: 0, attention: 0 }));
  });

  test("[N96] a page that is loaded again with the new schema reads the rows on disk again, under its names", async () => {
    const { push, make, open, openOlder } = await start();
    await make("a", "Before");
    const path = join(temporaryFolder("older", onTestFinished), "store.db");
    const first = await openOlder("ann", { storage: fileStorage(path) });
    await push();
    await first.ready({ rows: "complete" });
    expect(first.models.slide.list()).toMatchObject([{ title: "Before" }]);
    await first.close();
    const second = await open("ann", { storage: fileStorage(path) });
    await until(() => expect(second.models.slide.list()).toMatchObject([{ id: "a", heading: "Before" }]));
    expect(Object.keys(second.models.slide.get("a") ?? {})).not.toContain("title");
  });

  test("claims on a field meet, whichever of its names they were made by", async () => {
    const { person, push, make, open } = await start();
    await make("a", "Before");
    const { client: old } = await person("ann");
    await push();
    const fresh = await open("ben");
    await Promise.all([old.ready(), fresh.ready()]);
    const lease = await old.models.slide.claim("a", { field: "title" });
    await expect(fresh.models.slide.claim("a", { field: "heading" })).rejects.toMatchObject({
      code: "claim_conflict",
    });
    await lease.release();
    const theirs = await fresh.models.slide.claim("a", { field: "heading" });
    await expect(old.models.slide.claim("a", { field: "title" })).rejects.toMatchObject({ code: "claim_conflict" });
    await theirs.release();
  });
});

test("[N37] [N68] tabs of one browser with different schemas share rows, so all of them have the current names", async () => {
  const { url, push, token, make } = await start();
  await make("a", "Before");
  const own = await token("ann");
  const { platform } = new BrowserProfile();
  const onPlatform = { ...platform, WebSocket: closingSocket() };
  const old = closedInTheEnd(createClientOn(onPlatform, { schema: older, url, user: "ann", getToken: () => own }));
  await old.ready({ rows: "complete" });
  await push();
  await until(() => expect(old.status()).toMatchObject({ name: "online", rows: "complete" }));
  const fresh = closedInTheEnd(createClientOn(onPlatform, { schema: newer, url, user: "ann", getToken: () => own }));
  // The first tab leads, and reads the rows for both.
  await until(() => expect(fresh.models.slide.list()).toMatchObject([{ id: "a", heading: "Before" }]));
  expect([old, fresh].map((tab) => tab.status().leads)).toEqual([true, false]);
  await fresh.models.slide.update("a", { heading: "After" }).receipt;
  await until(() => expect(fresh.status()).toMatchObject({ name: "online", pending: 0, attention: 0 }));
  await old.close();
  await until(() => expect(fresh.status()).toMatchObject({ name: "online", leads: true, rows: "complete" }));
  expect(fresh.models.slide.list()).toMatchObject([{ id: "a", heading: "After" }]);
});

test("[N38] a page whose schema is too old says so, keeps its writes, and a newer version of the app sends them", async () => {
  const { databaseUrl, push, make, open, openOlder, request } = await start();
  await make("a", "Before");
  const path = join(temporaryFolder("older", onTestFinished), "store.db");
  const client = await openOlder("ann", { storage: fileStorage(path) });
  await client.ready({ rows: "complete" });
  client.pause();
  await client.models.slide.update("a", { title: "Late" }).queued;
  await push();
  await runSql(databaseUrl, "update holdfast.model_schema set created_at = created_at - interval '31 days'");
  client.resume();
  await until(() =>
    expect(client.status()).toMatchObject({
      ...{ name: "connecting", pending: 1, attention: 0 },
      reason: expect.stringContaining("Reload the page"),
    }),
  );
  expect(client.models.slide.list()).toMatchObject([{ title: "Late" }]);
  await client.close();
  expect((await request("GET", "/v1/models/slide/a")).data).toMatchObject({ heading: "Before" });

  const next = await open("ann", {
    storage: fileStorage(path),
    upcast: {
      [schemaHash(older)]: ({ data, ...rest }: { data?: { title?: string } }) => ({
        ...rest,
        data: { heading: data?.title },
      }),
    },
  });
  await until(async () => expect((await request("GET", "/v1/models/slide/a")).data).toMatchObject({ heading: "Late" }));
  await next.close();
});
