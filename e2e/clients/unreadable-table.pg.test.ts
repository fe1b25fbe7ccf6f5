import { createClient } from "@holdfast/sdk/node";
import { expect, test } from "vitest";
import { startWithTables } from "../../packages/server/src/testing/attached-tables.ts";
import { until } from "../../scripts/testing/until.ts";
import { closedInTheEnd } from "./people.ts";

const { app, db, attach } = await startWithTables();

const fields = { title: { type: "string", nullable: true } } as const;
const schema = { models: { leaving: { fields }, staying: { fields }, note: { fields } } } as const;

const open = () => closedInTheEnd(createClient({ schema, url: app.url, getToken: () => app.keys.live }));
const shown = ({ models }: ReturnType<typeof open>) =>
  (["leaving", "staying", "note"] as const).flatMap((name) => models[name].list().map(({ id }) => id));

test("[DS46] [DS116] [DS114] [N17] the client reads what there is beside a table that is gone, says so, and reads the table when it is back", async () => {
  const { models } = (await app.call("GET", "/v1/schema")).body as { models: object };
  await app.call("POST", "/v1/schema", { json: { models: { ...models, note: { fields } } } });
  for (const name of ["leaving", "staying"]) {
    await db.query(`create table public.${name} (id text primary key, title text)`);
    await db.query(`insert into public.${name} values ('${name}-a', 'A')`);
    await attach(`public.${name}`, { title: {} });
  }
  const made = await app.call("POST", "/v1/models/note", { key: "n", json: { id: "note-a", data: { title: "N" } } });
  expect(made.status, made.text).toBe(200);

  const before = open();
  await before.ready();
  expect(shown(before)).toEqual(["leaving-a", "staying-a", "note-a"]);

  await db.query("alter table public.leaving rename column id to key");
  const fresh = open();
  await fresh.ready();
  expect(shown(fresh)).toEqual(["staying-a", "note-a"]);
  await until(() => expect(fresh.status()).toMatchObject({ name: "online", unreadable: ["leaving"] }));
  // What the other client had of the table is not shown any more.
  await until(() => expect(before.status().unreadable).toEqual(["leaving"]));
  await until(() => expect(shown(before)).toEqual(["staying-a", "note-a"]));
  await before.models.staying.update("staying-a", { title: "B" }).receipt;
  await until(() => expect(fresh.models.staying.get("staying-a")?.title).toBe("B"));
  for (const query of ["?model=leaving", "?model=staying"])
    expect((await app.call("GET", `/v1/snapshot${query}`)).status).toBe(query.includes("leaving") ? 503 : 200);

  await db.query("alter table public.leaving rename column key to id");
  for (const client of [before, fresh]) {
    await until(() => expect(shown(client)).toEqual(["leaving-a", "staying-a", "note-a"]));
    expect(client.status().unreadable).toEqual([]);
  }

  await db.query("drop table public.leaving");
  const last = open();
  await last.ready();
  expect(shown(last)).toEqual(["staying-a", "note-a"]);
  expect(last.status().unreadable).toEqual(["leaving"]);
});
