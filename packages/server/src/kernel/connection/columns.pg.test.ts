import { expect, test } from "vitest";
import { freshClient } from "../../testing/fresh-connection.ts";
import { naughtyStrings } from "../../testing/naughty-strings.ts";
import { booleans, bytes, jsons, lists, numbers, texts, times } from "./columns.ts";

const { client } = await freshClient();

/** What Postgres makes of a column, as JSON. */
async function told(type: string, column: Buffer): Promise<unknown> {
  const { rows } = await client.query(
    `select coalesce(json_agg(item order by n), '[]') as items from unnest($1::${type}[]) with ordinality as t(item, n)`,
    [column],
  );
  return (rows[0] as { items: unknown }).items;
}

/** No half of a surrogate pair, and no NUL: the edge lets none in. */
const isKept = (text: string) => Buffer.from(text).toString() === text && !text.includes("\0");
const strings = [...naughtyStrings.filter(isKept), "", "{}", '"\\', "NULL"];

test("[L4] a column of texts arrives code unit for code unit", async () => {
  expect(await told("text", texts([...strings, null]))).toEqual([...strings, null]);
  expect(await told("text", texts([]))).toEqual([]);
});

test("[L4] lists of texts within a column, and JSON", async () => {
  const sent = [strings, [], ['a"b\\c,{}', "NULL"], null];
  const { rows } = await client.query("select item::text[] from unnest($1::text[]) as item", [lists(sent)]);
  expect(rows.map(({ item }) => item as unknown)).toEqual(sent);
  expect(await told("json", jsons([JSON.stringify(strings), null]))).toEqual([strings, null]);
});

test("[L4] whole numbers of any size, and booleans", async () => {
  const whole = [
    0,
    1,
    -1,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    -(2 ** 32) - 1,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
  ];
  expect(await told("bigint", numbers([...whole, null]))).toEqual([...whole, null]);
  expect(await told("boolean", booleans([true, false]))).toEqual([true, false]);
});

test("[L4] bytes of any length", async () => {
  const sent = [Buffer.from([0, 255, 128]), Buffer.alloc(0), Buffer.from(strings.join(""))];
  const column = bytes(sent.map((item) => item.toString("base64")));
  expect(await told("bytea", column)).toEqual(sent.map((item) => `\\x${item.toString("hex")}`));
  expect(await told("bytea", bytes([]))).toEqual([]);
});

test("[L4] instants to the millisecond", async () => {
  const instants = [
    "2026-11-22T23:59:59.999Z",
    "2026-11-22T23:59:59.999Z",
    "1999-12-31T23:59:59.001Z",
    "9999-12-31T23:59:59.999Z",
  ];
  const { rows } = await client.query(
    "select item = spelled::timestamptz as is_same from unnest($1::timestamptz[], $2::text[]) as t(item, spelled)",
    [times(instants), instants],
  );
  expect(rows).toEqual(instants.map(() => ({ is_same: true })));
  expect(await told("timestamptz", times([null]))).toEqual([null]);
});
