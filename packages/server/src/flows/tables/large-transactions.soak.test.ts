import { expect, test } from "vitest";
import { startWithTables } from "../../testing/attached-tables.ts";
import { attachAndFollow } from "../../testing/waiting/follow-tables.ts";

const tables = await startWithTables();
const { db } = tables;

test("[DS2] [DS3] a transaction of many statements and 10 000 rows is one commit", async () => {
  const log = await attachAndFollow(tables, "create table public.plenty (id int primary key, title text, n int)", {
    plenty: { title: {}, n: { type: "integer" } },
  });
  await db.query("insert into plenty select n, 'Row ' || n, 0 from generate_series(1, 4000) n");
  await db.query("begin");
  await db.query("insert into plenty select n, 'Row ' || n, 0 from generate_series(4001, 10000) n");
  await db.query("update plenty set n = id where id <= 3000");
  await db.query("delete from plenty where id between 3001 and 4000");
  await db.query("commit");
  await db.query(
    "begin; update plenty set n = n + 1; delete from plenty where id % 7 = 0; update plenty set n = 5; commit",
  );
  const [first, second, third, ...more] = await log.bySql();
  const counted = (verb: string) => second?.filter((told) => told.startsWith(verb)).length;
  expect([first?.length, counted("created"), counted("updated"), counted("deleted")]).toEqual([
    ...[4_000, 6_000, 3_000, 1_000],
  ]);
  expect(second).toContain("updated plenty/3000 n=3000");
  expect(second).toContain("created plenty/10000 title=Row 10000 n=0");
  expect(third?.filter((told) => told.startsWith("deleted"))).toHaveLength(1_285);
  expect(more).toEqual([]);
  await log.expectEqual();
});
