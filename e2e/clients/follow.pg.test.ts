import { join } from "node:path";
import { createClient, fileStorage } from "@holdfast/sdk/node";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { until } from "../../scripts/testing/until.ts";
import { closedInTheEnd, schema, startPeople } from "./people.ts";

const { url, request, agentToken } = await startPeople();

test("[N14] a client follows groups, and other ones after follow(): with a live log, and records that move between groups", async () => {
  const token = await agentToken("reader", "d1", "d2", "d3");
  const make = (id: string, deckId: string) => request("POST", "/v1/models/slide", { id, data: { deckId, title: id } });
  for (const [id, deckId] of [["a", "d1"] as const, ["b", "d2"] as const, ["c", "d3"] as const]) await make(id, deckId);
  const client = closedInTheEnd(createClient({ schema, url, getToken: () => token, follow: { groups: ["deck:d1"] } }));
  const { slide } = client.models;
  const ids = () => slide.list().map(({ id }) => id);
  await client.ready();
  expect(ids()).toEqual(["a"]);
  await make("a2", "d1");
  await make("b2", "d2");
  await until(() => expect(ids()).toEqual(["a", "a2"]));

  client.follow({ groups: ["deck:d2", "deck:d3"] });
  await until(() => expect(ids()).toEqual(["b", "b2", "c"]));
  // Records that leave the followed groups disappear, and records that enter them appear.
  await slide.update("c", { deckId: "d1" }).receipt;
  await request("PATCH", "/v1/models/slide/a", { data: { deckId: "d2" } });
  await until(() => expect(ids()).toEqual(["a", "b", "b2"]));
  client.follow({});
  await until(() => expect(ids()).toEqual(["a", "a2", "b", "b2", "c"]));
  await until(() => expect(client.status()).toMatchObject({ name: "online", pending: 0 }));
});

test("[N24] a client follows the records that meet its conditions, and opens again with the same ones from disk", async () => {
  const make = (id: string, deckId: string, title: string) =>
    request("POST", "/v1/models/slide", { id, data: { deckId, title } });
  const token = await agentToken("part", "w1", "w2", "w3");
  await make("w-a", "w1", "one");
  await make("w-b", "w2", "two");
  await make("w-c", "w3", "one");
  const path = join(temporaryFolder("follow", onTestFinished), "store.db");
  const open = () =>
    createClient({
      ...{ schema, url, storage: fileStorage(path), getToken: () => token },
      follow: { where: { slide: [{ deckId: { in: ["w1", "w2"] } }, { title: "one" }] } },
    });
  const first = open();
  const ids = () => first.models.slide.list().map(({ id }) => id);
  await first.ready({ rows: "complete" });
  expect(ids()).toEqual(["w-a", "w-b", "w-c"]);
  await request("PATCH", "/v1/models/slide/w-c", { data: { title: "three" } });
  await make("w-d", "w3", "two");
  await make("w-e", "w3", "one");
  await until(() => expect(ids()).toEqual(["w-a", "w-b", "w-e"]));
  // An own write moves a record out: it is confirmed, and the record goes.
  await first.models.slide.update("w-e", { title: "three" }).receipt;
  await until(() => expect(ids()).toEqual(["w-a", "w-b"]));
  await first.close();
  await request("PATCH", "/v1/models/slide/w-b", { data: { deckId: "w3" } });
  await request("PATCH", "/v1/models/slide/w-d", { data: { title: "one" } });
  const again = open();
  await again.ready();
  await until(() => expect(again.models.slide.list().map(({ id }) => id)).toEqual(["w-a", "w-d"]));
});

test("[N25] [N26] a client loads parts of a model from the server, and continues with them from disk", async () => {
  const make = (id: string, deckId: string) => request("POST", "/v1/models/slide", { id, data: { deckId, title: id } });
  const token = await agentToken("parts", "l1", "l2");
  for (const [id, deckId] of [["l-a", "l1"] as const, ["l-b", "l1"] as const, ["l-c", "l2"] as const])
    await make(id, deckId);
  const folder = temporaryFolder("load", onTestFinished);
  const open = () =>
    createClient({
      ...{ schema, url, storage: fileStorage(join(folder, "store.db")), getToken: () => token },
      follow: { where: { slide: [] } },
    });
  const first = open();
  const idsOf = ({ models }: typeof first) => models.slide.list().map(({ id }) => id);
  await first.ready({ rows: "complete" });
  expect(idsOf(first)).toEqual([]);
  await first.load("slide", { deckId: "l1" }).ready;
  expect(idsOf(first)).toEqual(["l-a", "l-b"]);
  await Promise.all([
    first.load("slide", { deckId: "l2", title: "l-c" }).ready,
    make("l-d", "l1"),
    make("l-e", "l2"),
    request("PATCH", "/v1/models/slide/l-a", { data: { deckId: "l2" } }),
  ]);
  await until(() => expect(idsOf(first)).toEqual(["l-b", "l-c", "l-d"]));
  await first.close();
  await request("PATCH", "/v1/models/slide/l-a", { data: { deckId: "l1" } });
  const again = open();
  await again.ready();
  await until(() => expect(idsOf(again)).toEqual(["l-a", "l-b", "l-c", "l-d"]));
});

test("[N49] [T20] a client with hundreds of parts goes on with all of them, on the stream and over HTTP", async () => {
  const decks = Array.from({ length: 150 }, (_, n) => `many-${n}-${"x".repeat(40)}`);
  const make = (id: string, deckId = "") => request("POST", "/v1/models/slide", { id, data: { deckId, title: id } });
  const token = await agentToken("many", ...decks);
  const [first = "", last = ""] = [decks[0], decks.at(-1)];
  await Promise.all([make("m-a", first), make("m-b", last)]);
  const path = join(temporaryFolder("many", onTestFinished), "store.db");
  const open = (rest: { readonly stream?: false } = {}) =>
    closedInTheEnd(
      createClient({
        ...{ schema, url, storage: fileStorage(path), getToken: () => token, follow: { where: { slide: [] } } },
        ...rest,
      }),
    );
  const before = open();
  await Promise.all(decks.map((deckId) => before.load("slide", { deckId }, { keep: true }).ready));
  const idsOf = ({ models }: typeof before) => models.slide.list().map(({ id }) => id);
  expect(idsOf(before)).toEqual(["m-a", "m-b"]);
  await before.close();
  await Promise.all([make("m-c", first), make("m-d", last), make("m-none", "elsewhere")]);
  const again = open();
  await until(() => expect(idsOf(again)).toEqual(["m-a", "m-b", "m-c", "m-d"]));
  expect(again.status()).toMatchObject({ live: true, rows: "complete" });
  await make("m-e", last);
  await until(() => expect(idsOf(again)).toEqual(["m-a", "m-b", "m-c", "m-d", "m-e"]));
  await again.close();
  await Promise.all([make("m-f", first), request("PATCH", "/v1/models/slide/m-a", { data: { deckId: "elsewhere" } })]);
  const polling = open({ stream: false });
  await until(() => expect(idsOf(polling)).toEqual(["m-b", "m-c", "m-d", "m-e", "m-f"]));
  expect(polling.status()).toMatchObject({ name: "online", live: false });
});

test("[N25] a part can name records by their ids, before they are there too", async () => {
  const make = (id: string) => request("POST", "/v1/models/slide", { id, data: { deckId: "n1", title: id } });
  const token = await agentToken("named", "n1");
  await make("n-a");
  await make("n-b");
  const follow = { where: { slide: [] } };
  const client = closedInTheEnd(createClient({ schema, url, getToken: () => token, follow }));
  const ids = () => client.models.slide.list().map(({ id }) => id);
  await client.load("slide", { id: "n-a" }).ready;
  expect(ids()).toEqual(["n-a"]);
  await client.load("slide", { id: { in: ["n-a", "n-d"] } }).ready;
  await make("n-c");
  await make("n-d");
  await until(() => expect(ids()).toEqual(["n-a", "n-d"]));
});
