import { expect, test } from "vitest";
import { freshPool } from "../../../testing/fresh-connection.ts";
import { takeDueIntents } from "./intents.ts";

// Without a server, which would take the due ones too.
const pool = await freshPool();

test("[DS30] a source with many open commits does not keep those of others from being finished", async () => {
  const { rows } = await pool.query<{ tenant: number }>(
    `with o as (insert into holdfast.organization (id, name) values ('org_1', 'one'))
     insert into holdfast.tenant (organization, livemode) values ('org_1', true) returning id as tenant`,
  );
  const tenant = rows[0]?.tenant;
  await pool.query(
    `insert into holdfast.intent (tenant, id, source, body, ask_at)
     select $1::int, 'silent' || n, 'ds_silent', json_build_object('id', 'silent' || n), now() - interval '1 hour' from generate_series(1, 150) n
     union all select $1, 'other', 'ds_other', json_build_object('id', 'other'), now()
     union all select $1, 'later', 'ds_other', json_build_object('id', 'later'), now() + interval '1 hour'`,
    [tenant],
  );
  const take = async (busy: readonly string[], most = 1_000) =>
    (await takeDueIntents(pool, { mostOfSource: 100, most, busy })).map(({ id }) => id);
  expect((await take([], 2)).sort()).toEqual(["other", expect.stringMatching(/^silent/)]);
  await pool.query("update holdfast.intent set ask_at = now() where id <> 'later'");
  expect(await take([`${tenant} ds_silent`])).toEqual(["other"]);
  expect(await take([])).toHaveLength(100);
  expect(await take([])).toHaveLength(50);
  expect(await take([])).toEqual([]);
});
